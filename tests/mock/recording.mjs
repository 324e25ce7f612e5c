// A recording (JSON Lines, shared/recording.md), looked up as Trellis does it.
import { readFileSync } from "node:fs";

/** A function from node, stage and attempt to the recorded line, or undefined. */
export function read(path) {
  const lines = new Map();
  readFileSync(path, "utf8").split("\n").forEach((text, index) => {
    if (text.trim() === "") return;
    const line = JSON.parse(text);
    if (line.error) throw new Error(`${path}, line ${index + 1}: errors are not served; leave them to faults`);
    const key = name(line.node, line.stage, line.attempt);
    if (!lines.has(key)) lines.set(key, line);
  });
  return (node, stage, attempt) =>
    lines.get(name(node, stage, attempt)) ??
    lines.get(name(node, stage)) ??
    lines.get(name("*", stage, attempt)) ??
    lines.get(name("*", stage)) ??
    (stage === "diagnosis" ? { reply: "A" } : undefined);
}

const name = (node, stage, attempt) => JSON.stringify([node, stage, attempt ?? "any"]);
