// `npm run pictures [-- NAME…]`: the pictures of README and walkthrough, each session of them by its name.
import { type Session, withSession } from '../lane/session';
import { UNCLUTTERED } from './camera';
import { choices } from './choices';
import { fixes } from './fixes';
import { graph, graphSettings } from './graph';
import { moving } from './moving';
import { recordedShop } from './shop';
import { waits } from './waits';

const local = { ...UNCLUTTERED, 'trellis.sandbox': 'local', 'trellis.codeLens.tests': false };
const sessions: Readonly<Record<string, () => Promise<void>>> = {
  fixes: () => {
    const settings = { ...local, 'trellis.model': recordedShop(), 'trellis.smallEdits': 0 };
    return take('fixes', settings, fixes);
  },
  waits: () => {
    const supervised = { 'trellis.approve': 'supervised', 'trellis.smallEdits': 0 };
    const settings = { ...local, ...supervised, 'trellis.model': recordedShop() };
    return take('waits', settings, waits);
  },
  graph: () => take('graph', { ...local, ...graphSettings }, graph, 1),
  choices: () => take('choices', local, choices),
  moving: () => take('moving', local, moving),
};

/** Takes the pictures of a session; text is sharp if the editor shows them at two thirds of their size. */
async function take(
  name: string,
  settings: object,
  work: (session: Session) => Promise<void>,
  scale = 1.5,
): Promise<void> {
  await withSession(`pictures-${name}`, { settings: { ...settings }, scale }, work);
}

async function takeAll(chosen: readonly string[]): Promise<void> {
  for (const [name, session] of Object.entries(sessions))
    if (chosen.length === 0 || chosen.includes(name)) await session();
}

takeAll(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
