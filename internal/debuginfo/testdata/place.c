#include <stdlib.h>

static __attribute__((noinline)) int deep(int n)
{
    if (n > 1)
        abort(); /* line 6 */
    return n;
}

int main(int argc, char **argv)
{
    (void)argv;
    return deep(argc); /* line 13 */
}
