// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// What C++'s runtime does with threads and at the end.
#include "posix.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <fstream>
#include <future>
#include <iostream>
#include <locale>
#include <mutex>
#include <pthread.h>
#include <random>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Noted {
    const char *name;
    explicit Noted(const char *n) : name(n) {}
    ~Noted()
    {
        if (folder && *name) {
            std::ofstream out(path_of("notes"), std::ios::app);
            out << "~" << name << "\n";
        }
    }
};

Noted global("global");
thread_local Noted local("thread_local");

void thread_locals()
{
    local.name = "of the first thread";
    std::thread([] {
        local.name = "of a thread";
        thread_local Noted second("second of a thread");
        SAY("%s", second.name);
    }).join();
    static Noted in_function("static in a function");
    SAY("%s", in_function.name);
}

void exits()
{
    local.name = "of the first thread";
    std::atexit([] { Noted("atexit"); });
    std::exit(rank == 1 ? 3 : 0);
}

void thread_ends()
{
    static pthread_key_t key;
    pthread_key_create(&key, [](void *) { Noted("destructor of a key"); });
    std::thread([] {
        local.name = "thread_local comes first";
        pthread_setspecific(key, &key);
    }).join();
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void *) -> void * {
        Noted here("unwound by pthread_exit");
        local.name = "of a thread that exits";
        pthread_exit(nullptr);
    }, nullptr);
    pthread_join(thread, nullptr);
    local.name = "";
}

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void exceptions()
{
    for (int i = 0; i < 3; i++)
        try {
            Noted unwound("unwound");
            throw Error("number " + std::to_string(i));
        } catch (const std::exception &e) {
            SAY("%s", e.what());
        }
    std::exception_ptr kept;
    std::thread([&kept] {
        try {
            std::vector<int>().at(5);
        } catch (...) {
            kept = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(kept);
    } catch (const std::out_of_range &) {
        SAY("out of range");
    }
    auto result = std::async(std::launch::async, []() -> int { throw Error("of a future"); });
    try {
        result.get();
    } catch (const Error &e) {
        SAY("%s", e.what());
    }
}

void terminates()
{
    std::set_terminate([] {
        Noted("terminate");
        std::cout << "terminated" << std::endl;
        std::_Exit(5);
    });
    if (rank == 1)
        throw Error("nobody catches it");
}

void uncaught()
{
    if (rank == 1)
        throw Error("nobody catches it");
    for (;;)
        pause();
}

void concurrency()
{
    std::mutex m;
    std::condition_variable changed;
    std::shared_mutex s;
    std::once_flag once;
    std::atomic<int> calls{0};
    int turn = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++)
        threads.emplace_back([&, i] {
            std::call_once(once, [&] { calls++; });
            std::unique_lock<std::mutex> l(m);
            changed.wait(l, [&] { return turn == i; });
            turn++;
            changed.notify_all();
            l.unlock();
            std::shared_lock<std::shared_mutex> read(s);
        });
    for (auto &t : threads)
        t.join();
    SAY("%d %d", calls.load(), turn);
    std::promise<int> p;
    auto f = p.get_future();
    SAY("%d", f.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout);
    p.set_value(42);
    SAY("%d", f.get());
    SAY("%d", std::async(std::launch::async, [] { return 7; }).get());
}

void streams()
{
    std::cout << "cout " << rank << ' ' << 1.5 << std::endl;
    std::cerr << "cerr\n";
    std::clog << "clog\n";
    printf("printf\n");
    std::cout << "without an end";
    std::ofstream(path_of("file")) << "in a file\n";
    std::ios::sync_with_stdio(false);
    std::cout << std::hex << 255 << "\n";
}

void locales()
{
    try {
        std::locale::global(std::locale(rank % 2 ? "C.UTF-8" : "C"));
    } catch (const std::exception &e) {
        SAY("%s", e.what());
    }
    SAY("%s", std::locale().name().c_str());
    SAY("%s", setlocale(LC_ALL, nullptr));
    std::mt19937 generator(rank);
    SAY("%lu", static_cast<unsigned long>(generator()));
}

void first_thread_exits()
{
    Noted unwound("unwound");
    local.name = "thread_local of the first thread";
    pthread_exit(nullptr);
}

void wide_after_narrow()
{
    std::cout << "narrow" << std::endl;
    std::wcout << L"wide" << std::endl;
    std::cerr << std::wcout.good() << std::endl;
}

} // namespace

const struct program programs[] = {
    PROGRAM(thread_locals), PROGRAM(exits), PROGRAM(thread_ends), PROGRAM(exceptions), PROGRAM(terminates), PROGRAM(uncaught),
    PROGRAM(concurrency), PROGRAM(streams), PROGRAM(locales), PROGRAM(wide_after_narrow), PROGRAM(first_thread_exits), {NULL, NULL},
};
