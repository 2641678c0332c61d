// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <string>

namespace solver {
int step;
namespace {
int hidden = 1;
}
}

struct Shape {
	static int made;
	virtual ~Shape() { made++; }
};
int Shape::made;

template <class T> struct Pool {
	static T *first;
};
template <class T> T *Pool<T>::first;

static std::string title("none");
inline int revision = 4;
thread_local int own;

int advance(int by)
{
	static Shape *last = new Shape;
	return by + (last != nullptr);
}

int main(int argc, char **)
{
	Pool<double>::first = nullptr;
	std::cout << solver::step + solver::hidden + advance(argc) + revision + own << title << Pool<double>::first;
	delete new Shape;
}
