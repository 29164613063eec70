import { describeByHand } from './manual-rows.js';
import { describeMatrix } from './describe-matrix.js';
import { ROWS } from './rows/index.js';

describeMatrix('the site and its organizations', ROWS.site, describeByHand);
