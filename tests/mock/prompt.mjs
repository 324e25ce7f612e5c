// What a question is about: its node, its stage and, for a vote, which one. All of it is read off the words of the
// prompt, which is why this is the one file here to change with them.
import { createHash } from "node:crypto";

// The first that fits counts.
const STAGES = [
  ["integration_tests", /^## Flows through `([^`]+)`/m],
  ["diagnosis", /VERDICT: A, B or C/],
  ["fix", /^Fix `[^`]+`\. Answer with/m],
  ["implementation", /^## Tests it must pass/m],
  ["tests", /^Write a pytest module for/m],
];

// Of the specification, which every question about a node has once: "`name`, a function in `path`".
const ITEM = /^`([^`]+)`, a \w+ in `([^`]+)`/m;

/** `where` (name and path) to node id, of a graph in the format of the seeds. */
export function nodesOf(graph) {
  const leaves = graph.nodes.filter((node) => node.node_type === "leaf");
  const where = (node) => `${node.name} ${node.file_path}`;
  return new Map(leaves.map((node) => [where(node), node.id]));
}

/**
 * The question of a request in the chat-completions shape, into which the mock server puts all formats.
 * `prompt` is the hash Trellis writes into its journal: of all texts in order, without results of tools.
 */
export function question(request, nodes) {
  const spoken = request.messages.filter((message) => message.role !== "tool").map((it) => words(it.content));
  const prompt = createHash("sha256").update(spoken.join("")).digest("hex");
  const text = spoken.join("\n");
  const [stage, mark] = STAGES.find(([, mark]) => mark.test(text)) ?? [];
  const item = text.match(ITEM);
  const node = stage === "integration_tests" ? text.match(mark)[1] : item && nodes.get(`${item[1]} ${item[2]}`);
  return { node: node ?? null, stage: stage ?? null, vote: stage === "diagnosis" ? vote(request.temperature) : 0, prompt };
}

function words(content) {
  if (Array.isArray(content)) return content.map((part) => part.text ?? "").join("");
  return content ?? "";
}

/** The first opinion is asked for at 0.0, or at 0.3 with others; these at 0.4, … 0.7. */
function vote(temperature) {
  if (typeof temperature !== "number") throw new Error("a vote without a temperature: which of the five is it?");
  return Math.max(0, Math.round((temperature - 0.3) * 10));
}
