/* Executes kernel calls one after the other, each on several threads: tasks are handed out as threads come for
   them, and nobody begins a call before all tasks of the one before are done. Which thread does a task changes
   no bit: tasks are independent. Threads live as long as one run.

   Every thread looks whether it computes as IEEE 754 says (D-ALL-4), before its work and after. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

struct call {
    void (*run)(const void *parameters, void *const *operands, int64_t task, int64_t rank);
    const void *parameters;
    void *const *operands;
    int64_t tasks;
};

/* What threads share about one call; a line of the cache each, so that calls do not disturb one another. */
struct progress {
    int64_t next, arrived, unused[6];
};

struct team {
    const struct call *calls;
    struct progress *progress;
    int64_t count;
    int64_t size; /* 0 until it is known how many threads there are */
    int spoiled;  /* whether some thread did not compute as it should */
};

struct member {
    struct team *team;
    int64_t rank;
    pthread_t thread;
};

#define MOST_THREADS 256
#define PATIENCE 2000

/* Waits until a number that others count up is at least `wanted`; gives the processor away after a while. */
static void await(const int64_t *number, int64_t wanted)
{
    for (int64_t turn = 0; __atomic_load_n(number, __ATOMIC_ACQUIRE) < wanted; turn++) {
        if (turn >= PATIENCE) sched_yield();
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

static void work(struct team *team, int64_t rank)
{
    int sound = is_ieee();
    for (int64_t i = 0; i < team->count; i++) {
        const struct call *const call = team->calls + i;
        struct progress *const progress = team->progress + i;
        for (;;) {
            const int64_t task = __atomic_fetch_add(&progress->next, 1, __ATOMIC_RELAXED);
            if (task >= call->tasks) break;
            call->run(call->parameters, call->operands, task, rank);
        }
        __atomic_fetch_add(&progress->arrived, 1, __ATOMIC_ACQ_REL);
        await(&progress->arrived, team->size);
    }
    sound &= is_ieee();
    if (!sound) __atomic_store_n(&team->spoiled, 1, __ATOMIC_RELEASE);
}

static void *begin(void *argument)
{
    struct member *const member = argument;
    await(&member->team->size, 1);
    work(member->team, member->rank);
    return NULL;
}

/* Runs `count` calls; `progress` has room for each. Where no more threads can be had, fewer do. Answers whether
   the results are those of IEEE arithmetic. */
int sonnx_execute(const struct call *calls, struct progress *progress, int64_t count, int64_t threads)
{
    struct member members[MOST_THREADS];
    struct team team = {calls, progress, count, 0, 0};
    int64_t size = 1;
    for (int64_t i = 0; i < count; i++) progress[i] = (struct progress){0, 0, {0}};
    for (; size < threads && size < MOST_THREADS; size++) {
        members[size].team = &team;
        members[size].rank = size;
        if (pthread_create(&members[size].thread, NULL, begin, members + size) != 0) break;
    }
    __atomic_store_n(&team.size, size, __ATOMIC_RELEASE);
    work(&team, 0);
    for (int64_t i = 1; i < size; i++) pthread_join(members[i].thread, NULL);
    return !team.spoiled;
}
