/* Executes kernel calls one after the other, each on several threads. Tasks are handed out as threads come for
   them, and nobody begins a call before all tasks of the one before are done; which thread does a task changes no
   bit, because tasks are independent. Whoever calls works too, and never waits for a thread that sleeps: helpers
   join when they are awake, at whatever call the work has reached. They stay for the next run.

   Every thread looks whether it computes as IEEE 754 says (D-ALL-4); no kernel changes that. */
#define _POSIX_C_SOURCE 200809L
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>

struct call {
    void (*run)(const void *parameters, void *const *operands, int64_t task, int64_t rank);
    const void *parameters;
    void *const *operands;
    int64_t tasks;
};

/* How far one call has come; a line of the cache each, so that calls do not disturb one another. */
struct progress {
    int64_t next, done, unused[6];
};

/* What is asked for: so many calls, room for the progress of each, and on how many threads. It is one argument, as
   whoever calls from Python waits for every one of them. */
struct run {
    const struct call *calls;
    struct progress *progress;
    int64_t count;
    int64_t threads;
};

struct work {
    const struct call *calls;
    struct progress *progress;
    int64_t count;
    int64_t threads;
    int64_t helpers; /* that are at it */
    int spoiled;     /* whether some thread did not compute as it should */
};

#define MOST_THREADS 256
/* Turns of a waiting loop before a thread gives its processor to others, and before a helper goes to sleep: about
   a tenth of a millisecond, which is what waking it costs. */
#define PATIENCE 1000
#define WAKEFUL 4000

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() (void)0
#endif

/* The helpers of this process. One run at a time has them: two would take them from each other. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct work *work;
    int64_t runs, helpers, sleeping;
    int busy;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0, 0, 0};

/* Waits until a number that others change is `wanted`. */
static void await(const int64_t *number, int64_t wanted)
{
    for (int64_t turn = 0; __atomic_load_n(number, __ATOMIC_ACQUIRE) != wanted; turn++) {
        if (turn >= PATIENCE) sched_yield();
        PAUSE();
    }
}

/* Tells whether subnormal numbers are kept and roundings are to nearest, ties to even. */
static int is_ieee(void)
{
    volatile float tiny = 0x1p-149f, one = 1.0f, tie = 0x1p-24f, beyond = 0x1.8p-24f;
    volatile float product = tiny * one, up = one + tie, down = -one - tie, next = one + beyond, last = -one - beyond;
    return tiny > 0 && product > 0 && up == 1.0f && down == -1.0f && next == 0x1.000002p0f &&
           last == -0x1.000002p0f;
}

static void do_tasks(struct work *work, int64_t rank)
{
    if (!is_ieee()) __atomic_store_n(&work->spoiled, 1, __ATOMIC_RELEASE);
    for (int64_t i = 0; i < work->count; i++) {
        const struct call *const call = work->calls + i;
        struct progress *const progress = work->progress + i;
        for (;;) {
            const int64_t task = __atomic_fetch_add(&progress->next, 1, __ATOMIC_RELAXED);
            if (task >= call->tasks) break;
            call->run(call->parameters, call->operands, task, rank);
            __atomic_fetch_add(&progress->done, 1, __ATOMIC_RELEASE);
        }
        await(&progress->done, call->tasks);
    }
}

/* Waits for a run after the one that a helper has seen last. */
static void await_run(int64_t seen)
{
    for (int64_t turn = 0; turn < WAKEFUL; turn++) {
        if (__atomic_load_n(&pool.runs, __ATOMIC_ACQUIRE) != seen) return;
        PAUSE();
    }
    pthread_mutex_lock(&pool.lock);
    pool.sleeping++;
    while (pool.runs == seen) pthread_cond_wait(&pool.wake, &pool.lock);
    pool.sleeping--;
    pthread_mutex_unlock(&pool.lock);
}

static void *help(void *argument)
{
    const int64_t rank = (int64_t)(intptr_t)argument;
    fesetenv(FE_DFL_ENV); /* not what the thread that hired it may have been set to */
    for (int64_t seen = 0;;) {
        await_run(seen);
        pthread_mutex_lock(&pool.lock);
        struct work *const work = pool.work;
        const int joins = work != NULL && rank < work->threads;
        seen = pool.runs;
        if (joins) __atomic_fetch_add(&work->helpers, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&pool.lock);
        if (joins) {
            do_tasks(work, rank);
            __atomic_fetch_sub(&work->helpers, 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

/* A forked process has none of its parent's helpers. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pool.work = NULL;
    pool.runs = pool.helpers = pool.sleeping = 0;
    pool.busy = 0;
}

static void register_forget(void) { pthread_atfork(NULL, NULL, forget); }

/* Has so many helpers, or as many as can be had; signals are for other threads. */
static void hire(int64_t wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_once(&once, register_forget);
    if (pool.helpers >= wanted || pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < wanted) {
        if (pthread_create(&thread, &attributes, help, (void *)(intptr_t)(pool.helpers + 1)) != 0) break;
        pool.helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Shows the helpers what there is to do; answers 0 where another run has them. */
static int open_work(struct work *work)
{
    pthread_mutex_lock(&pool.lock);
    const int free = !pool.busy;
    if (free) {
        pool.busy = 1;
        pool.work = work;
        hire(work->threads - 1);
        __atomic_fetch_add(&pool.runs, 1, __ATOMIC_RELEASE);
        if (pool.sleeping) pthread_cond_broadcast(&pool.wake);
    }
    pthread_mutex_unlock(&pool.lock);
    return free;
}

static void close_work(struct work *work)
{
    pthread_mutex_lock(&pool.lock);
    pool.work = NULL;
    pool.busy = 0;
    pthread_mutex_unlock(&pool.lock);
    await(&work->helpers, 0);
}

/* Runs calls on up to `threads` threads. Answers whether the results are those of IEEE arithmetic. */
int sonnx_execute(const struct run *run)
{
    const int64_t threads = run->threads < MOST_THREADS ? run->threads : MOST_THREADS;
    struct work work = {run->calls, run->progress, run->count, threads, 0, 0};
    for (int64_t i = 0; i < run->count; i++) run->progress[i] = (struct progress){0, 0, {0}};
    const int helped = threads > 1 && open_work(&work);
    do_tasks(&work, 0);
    if (helped) close_work(&work);
    return !work.spoiled;
}
