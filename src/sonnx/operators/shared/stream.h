/* A way to write much past the caches: a processor need not read a line of memory
   that is overwritten as a whole, and what else the caches hold stays there. A kernel makes some lines of its
   output in a small array, which the nearest cache holds, and then streams them. */
#define STREAM_LINE 64
#define STREAM_AHEAD 256

/* How many of `count` pieces, so many bytes each, come before the first that begins with a line: all of them
   where none does. */
INLINE int64_t stream_head(const void *to, int64_t piece, int64_t count)
{
    const int64_t bytes = (int64_t)((0 - (uintptr_t)to) % STREAM_LINE);
    const int64_t head = bytes % piece == 0 ? bytes / piece : count;
    return head < count ? head : count;
}

/* Asks for so many bytes that will be read soon; beyond the end of an array that does nothing. */
INLINE void stream_ask(const void *from, int64_t bytes)
{
    const uintptr_t there = (uintptr_t)from + STREAM_AHEAD;
    for (int64_t i = 0; i < bytes; i += STREAM_LINE) {
        __builtin_prefetch((const void *)(there + (uintptr_t)i));
    }
}

#if defined(__SSE2__)
/* As wide as the processor's vectors: of a line written in several words, fewer are on their way at a time. */
#if defined(__AVX512F__)
#define STREAM_WORD 64
#define STREAM_NOW __builtin_ia32_movntdq512
#elif defined(__AVX__)
#define STREAM_WORD 32
#define STREAM_NOW __builtin_ia32_movntdq256
#else
#define STREAM_WORD 16
#define STREAM_NOW __builtin_ia32_movntdq
#endif
typedef long long stream_word __attribute__((vector_size(STREAM_WORD), may_alias));

INLINE void stream_store(stream_word *to, stream_word word)
{
#if defined(__clang__)
    __builtin_nontemporal_store(word, to);
#else
    STREAM_NOW(to, word);
#endif
}

/* Such stores are not ordered with others: a task ends with this, so that other threads see its output. */
INLINE void stream_end(void) { __builtin_ia32_sfence(); }
#else
typedef uint64_t stream_word __attribute__((may_alias));

INLINE void stream_store(stream_word *to, stream_word word) { *to = word; }
INLINE void stream_end(void) {}
#endif

/* Writes whole lines; `to` stands at the beginning of one, `from` anywhere. */
INLINE void stream(void *to, const void *from, int64_t bytes)
{
    const int64_t words = bytes / (int64_t)sizeof(stream_word);
    for (int64_t i = 0; i < words; i++) {
        stream_word word;
        __builtin_memcpy(&word, (const char *)from + i * (int64_t)sizeof word, sizeof word);
        stream_store((stream_word *)to + i, word);
    }
}
