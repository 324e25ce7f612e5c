// `node scripts/editors.mjs LANE…`: installs the editors of these lanes in parallel.
import { install } from './install';
import { laneNamed } from './lanes';

Promise.all(process.argv.slice(2).map((name) => install(laneNamed(name)))).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
