import { expect, it } from '@jest/globals';
import { findToolOfVersion } from './tool-of-version.js';

it.each([
  ['1.5.7', 'terraform'],
  ['1.10.5', 'terraform'],
  ['1.10.9', 'tofu'],
  ['1.11.14', 'tofu'],
  ['2.0.0', 'terraform'],
  ['latest', 'terraform'],
])('takes %s for a version of %s', (version, tool) => {
  expect(findToolOfVersion(version)).toBe(tool);
});
