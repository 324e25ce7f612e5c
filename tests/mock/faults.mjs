// Everything that can go wrong with a call, as the mock server does it, and which calls it happens to.
import { createHash } from "node:crypto";

// Waits no client here has the patience for: between pieces of a stream, and before a whole answer, where the server
// allows itself no longer one. In milliseconds.
const BETWEEN_PIECES = 600_000;
const BEFORE_ALL = 30_000;
// Characters of a piece: few enough that streams that fail on the way have several.
const PIECE = 20;
// Past the largest answer anybody takes (16 MiB).
const HUGE = 17 << 20;

const refusal = (status, type, message, more) => ({ response: { error: { type, message }, status, ...more } });

/**
 * By kind: what a fixture of the mock server needs to fail in this way, for a stream and for an answer in one
 * piece. `response` may be a function of the question.
 */
const KINDS = {
  "429": { ...refusal(429, "rate_limit_error", "slow down", { retryAfter: 0 }) },
  "500": { ...refusal(500, "server_error", "something broke") },
  "401": { response: ({ key }) => refusal(401, "authentication_error", `Incorrect API key provided: ${key}`).response },
  "404": { ...refusal(404, "not_found_error", "the model does not exist") },
  cut: { stream: { truncateAfterChunks: 2, latency: 1, chunkSize: PIECE }, whole: { chaos: { disconnectRate: 1 } } },
  garbage: { both: { chaos: { malformedRate: 1 } } },
  drip: { stream: { streamingProfile: { ttft: 0, tps: 1000 / BETWEEN_PIECES }, chunkSize: PIECE }, whole: { chaos: { latencyMs: BEFORE_ALL } } },
  huge: { both: { chunkSize: 1 << 20 }, response: () => ({ content: "x".repeat(HUGE) }) },
};

/** The fixture of a fault for streams or for answers in one piece; `reply` is what would be said without it. */
export function fixture(kind, streams, reply) {
  const fault = KINDS[kind];
  const more = { ...fault.both, ...(streams ? fault.stream : fault.whole) };
  return { ...more, response: fault.response ?? reply };
}

/**
 * A function from a question and how often it was put before to the kind of fault it meets, or null. `share`: one
 * in so many questions; `times`: so often each. The same for the same seed, in whatever order questions come.
 */
export function plan({ seed = 0, share = 1, times = 1, kinds }) {
  const unknown = kinds.filter((kind) => !(kind in KINDS));
  if (unknown.length > 0) throw new Error(`unknown faults ${unknown}; known are ${Object.keys(KINDS)}`);
  return ({ node, stage, attempt, vote }, before) => {
    const draw = createHash("sha256").update(JSON.stringify([seed, node, stage, attempt, vote])).digest();
    if (draw.readUInt32BE(0) % share !== 0 || (times !== null && before >= times)) return null;
    return kinds[draw.readUInt32BE(4) % kinds.length];
  };
}

export const ALL = Object.keys(KINDS);
