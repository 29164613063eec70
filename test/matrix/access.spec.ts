import { describeByHand } from './manual-rows.js';
import { describeMatrix } from './describe-matrix.js';
import { ROWS } from './rows/index.js';

describeMatrix('people, teams and tokens', ROWS.access, describeByHand);
