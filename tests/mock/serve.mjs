#!/usr/bin/env node
// A recording, served as if four providers had said it: aimock speaks their formats, we say what is answered and
// which calls fail. Started by served.rs beside this file.
//
// The first line of standard input is the order, in JSON:
//   graph      the planning graph the questions will be about
//   recording  what is answered (JSON Lines)
//   faults     optional, of faults.mjs: {seed, share, times, kinds}
//   latency    optional: wait as long as the recording says before answering
//   tls        optional {key, cert}: files in PEM
// Lines of JSON come out: {"port": n}, then for every request {"event": "asked", …} and, once its connection is
// done with, {"event": "ended", …, "complete": whether a whole reply was handed to the system}. It ends with its
// standard input. MOCK_HOME is the folder with node_modules.
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer as createTlsServer } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { ALL, fixture, plan } from "./faults.mjs";
import { nodesOf, question } from "./prompt.mjs";
import { read } from "./recording.mjs";

const { createServer } = createRequire(`${process.env.MOCK_HOME}/`)("@copilotkit/aimock");

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Decides what becomes of a request, once for each, and tells. */
class Desk {
  constructor(order) {
    this.nodes = nodesOf(JSON.parse(readFileSync(order.graph, "utf8")));
    this.recorded = read(order.recording);
    this.fault = order.faults ? plan(order.faults) : () => null;
    this.latency = order.latency === true;
    // By node and stage, the prompts that got their reply, in order: their places are the attempts.
    this.answered = new Map();
    this.tries = new Map();
    this.decided = new WeakMap();
  }

  /** The server looks for a fixture several times; a request counts once. */
  decision(request) {
    if (!this.decided.has(request)) this.decided.set(request, this.decide(request));
    return this.decided.get(request);
  }

  decide(request) {
    const exchange = exchanges.getStore();
    const asked = question(request, this.nodes);
    const of = JSON.stringify([asked.node, asked.stage]);
    if (!this.answered.has(of)) this.answered.set(of, []);
    const answered = this.answered.get(of);
    // What was answered before and is asked again is the same attempt.
    const seen = answered.indexOf(asked.prompt);
    asked.attempt = asked.stage === "diagnosis" ? asked.vote : seen < 0 ? answered.length : seen;
    const once = JSON.stringify([asked.prompt, asked.vote]);
    const before = this.tries.get(once) ?? 0;
    this.tries.set(once, before + 1);
    const line = this.recorded(asked.node, asked.stage, asked.attempt);
    const kind = line ? this.fault(asked, before) : null;
    const about = {
      ...asked,
      format: format(exchange.request.url),
      stream: streams(exchange.request.url, request),
      fault: kind,
      input_tokens: line?.usage?.input_tokens ?? null,
      output_tokens: line?.usage?.output_tokens ?? null,
    };
    tell({ event: "asked", ...about });
    exchange.response.once("close", () => {
      const complete = Boolean(line) && kind === null && exchange.response.writableFinished;
      if (complete && !answered.includes(asked.prompt)) answered.push(asked.prompt);
      tell({ event: "ended", ...about, complete });
    });
    return { ...about, line, key: key(exchange.request) };
  }

  /** What is said: text, calls of tools, tokens; with the wait the recording asks for. */
  async reply(request) {
    const { node, stage, attempt, line } = this.decision(request);
    if (!line) {
      const message = `no recorded reply for ${node} ${stage} ${attempt}`;
      return { error: { type: "invalid_request_error", message }, status: 400 };
    }
    if (this.latency && line.latency_ms) await wait(line.latency_ms);
    const calls = line.tool_calls?.map((it) => ({ name: it.name, arguments: JSON.stringify(it.arguments) }));
    const usage = line.usage && { prompt_tokens: line.usage.input_tokens, completion_tokens: line.usage.output_tokens };
    return { content: line.reply ?? "", ...(calls && { toolCalls: calls }), ...(usage && { usage }) };
  }

  /** One for every way a request can end; which one it is was decided before. */
  fixtures() {
    const reply = (request) => this.reply(request);
    const plain = { match: { predicate: (request) => this.decision(request).fault === null }, response: reply };
    const faulty = [true, false].flatMap((stream) => ALL.map((kind) => this.faulty(kind, stream, reply)));
    return [plain, ...faulty];
  }

  faulty(kind, stream, reply) {
    const { response, ...more } = fixture(kind, stream, reply);
    const mine = (it) => it.fault === kind && it.stream === stream;
    const said = typeof response === "function" && response !== reply
      ? (request) => response(this.decision(request))
      : response;
    return { match: { predicate: (request) => mine(this.decision(request)) }, response: said, ...more };
  }
}

const FORMATS = [
  ["ollama", /^\/api\/chat/],
  ["gemini", /^\/v1beta\/models\/.*[gG]enerateContent/],
  ["anthropic", /^\/v1\/messages/],
  ["openai", /^\/v1\/chat\/completions/],
];

const format = (url) => FORMATS.find(([, path]) => path.test(url))?.[0] ?? null;

function streams(url, request) {
  return format(url) === "gemini" ? url.includes(":streamGenerateContent") : request.stream === true;
}

/** The key of a request, wherever its format has it. */
function key({ headers, url }) {
  const bearer = headers.authorization?.replace(/^Bearer /, "");
  const query = new URL(url, "http://mock").searchParams.get("key");
  return bearer ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? query;
}

const exchanges = new AsyncLocalStorage();

async function main() {
  const input = createInterface({ input: process.stdin });
  input.once("close", () => process.exit(0));
  const order = JSON.parse((await once(input, "line"))[0]);
  const mock = await createServer(new Desk(order).fixtures(), { port: 0, host: "127.0.0.1", chunkSize: 200 });
  // Fixtures see a request's body; this is how they come by the rest of it.
  mock.server.prependListener("request", (request, response) => exchanges.enterWith({ request, response }));
  tell({ port: order.tls ? await behindTls(mock.server, order.tls) : mock.server.address().port });
}

/** The same server, asked over TLS; returns the port. */
function behindTls(server, tls) {
  const files = { key: readFileSync(tls.key), cert: readFileSync(tls.cert) };
  const outer = createTlsServer(files, (request, response) => server.emit("request", request, response));
  return new Promise((done) => outer.listen(0, "127.0.0.1", () => done(outer.address().port)));
}

await main();
