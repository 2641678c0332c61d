// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads are cancelled in the midst of the system log and of a walk. They leave no lock held: the rank goes on with both. */
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

static void *log_for_ever(void *unused)
{
    for (;;)
        syslog(LOG_INFO, "again");
}

static void *walk_for_ever(void *unused)
{
    for (;; endpwent())
        while (getpwent())
            pthread_testcancel();
}

int main(void)
{
    void *(*const forever[])(void *) = {log_for_ever, walk_for_ever};
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, forever[i % 2], NULL) != 0)
            return 1;
        usleep(1000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            return 2;
    }
    endpwent();
    puts(getpwent()->pw_name);
    openlog("name", LOG_PERROR, LOG_USER);
    syslog(LOG_INFO, "the last one");
    return 0;
}
