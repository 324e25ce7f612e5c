// `npm run editors -- LANE…`: installs the editors of these lanes.
import { install } from './install';
import { laneNamed } from './lanes';

for (const name of process.argv.slice(2)) install(laneNamed(name));
