// Simulates a verilated core; all cores have the same ports.
#pragma once
#include "verilated.h"
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

struct Request {
    const uint32_t *input;  // flits of four words
    size_t input_flits;
    uint32_t *output;
    size_t output_flits;    // room
    size_t *ends;           // flits up to the end of each chunk
    size_t chunks;          // stop after so many
    uint32_t stall_input;   // per cent of the cycles
    uint32_t stall_output;
    uint64_t seed;
    uint64_t most_cycles;
    uint32_t *trace;        // TRACE_WORDS for each cycle: handshakes, input, output
    size_t trace_cycles;    // room
};

struct Outcome {
    size_t taken;           // flits of the input
    size_t given;           // flits of the output
    size_t chunks;
    uint64_t cycles;        // from the end of reset to the last flit
    uint64_t first_output;  // cycle of the first flit
    uint32_t broken;        // an offered flit changed or went away, or one came behind the last chunk
};

constexpr size_t TRACE_WORDS = 9;
// Cycles after the last chunk in which no output may appear.
constexpr int QUIET_CYCLES = 64;

struct Random {
    uint64_t state;
    uint32_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return uint32_t(state >> 32);
    }
    bool stall(uint32_t percent) { return next() % 100 < percent; }
};

template <class Core> void clock_edge(Core &core) {
    core.clk = 1;
    core.eval();
    core.clk = 0;
    core.eval();
}

template <class Core> void run(const Request &request, Outcome &outcome) {
    VerilatedContext context;
    // Registers without a reset start with random values.
    context.randReset(2);
    context.randSeed(int(request.seed % 0x7fffffff) + 1);
    auto core = std::make_unique<Core>(&context);
    Random random{request.seed};
    auto garbage = [&] {
        for (int i = 0; i < 4; i++) core->i_data[i] = random.next();
    };
    core->clk = 0;
    core->i_valid = 0;
    core->o_ready = 0;
    core->rst = 1;
    core->eval();
    for (int i = 0; i < 3; i++) clock_edge(*core);
    core->rst = 0;

    outcome = {};
    bool waiting = false;
    uint32_t offered[5] = {};
    uint64_t cycle = 0;
    uint64_t end = request.most_cycles;
    while (cycle < end) {
        bool done = outcome.chunks == request.chunks;
        core->i_valid = outcome.taken < request.input_flits && !random.stall(request.stall_input);
        garbage();
        if (core->i_valid) std::memcpy(&core->i_data[0], request.input + 4 * outcome.taken, 16);
        core->o_ready = done || !random.stall(request.stall_output);
        core->eval();

        uint32_t now[5] = {core->o_last};
        std::memcpy(now + 1, &core->o_data[0], 16);
        if (waiting && (!core->o_valid || std::memcmp(now, offered, sizeof now))) outcome.broken = 1;
        waiting = core->o_valid && !core->o_ready;
        std::memcpy(offered, now, sizeof now);
        if (cycle < request.trace_cycles) {
            uint32_t *at = request.trace + TRACE_WORDS * cycle;
            at[0] = core->i_valid | core->i_ready << 1 | core->o_valid << 2 | core->o_ready << 3 | core->o_last << 4;
            std::memcpy(at + 1, &core->i_data[0], 16);
            std::memcpy(at + 5, &core->o_data[0], 16);
        }
        if (core->i_valid && core->i_ready) outcome.taken++;
        cycle++;
        if (core->o_valid && core->o_ready) {
            if (done || outcome.given == request.output_flits) {
                outcome.broken = 1;
                break;
            }
            if (outcome.given == 0) outcome.first_output = cycle;
            std::memcpy(request.output + 4 * outcome.given++, &core->o_data[0], 16);
            outcome.cycles = cycle;
            if (core->o_last) request.ends[outcome.chunks] = outcome.given;
            if (core->o_last && ++outcome.chunks == request.chunks && end > cycle + QUIET_CYCLES)
                end = cycle + QUIET_CYCLES;
        }
        clock_edge(*core);
    }
}
