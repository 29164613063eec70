import { describe, expect, it } from '@jest/globals';
import { formatArchivedEntry } from './archived-entry.js';

const BYTES = Buffer.alloc(32, 7);
const BASE64 = BYTES.toString('base64');

describe('an entry in the archive', () => {
  it('has null in place of each personal value, and no salt that opens a commitment', () => {
    const entry = {
      id: 'e',
      auth: { accessor_id: 'user-1', description: 'ada' },
      resource: { meta: { user: 'zoe', users: ['zoe'], 'a/b~c': 'zoe', kept: 1 } },
    };
    const pointers = ['/auth/description', '/resource/meta/user', '/resource/meta/users', '/resource/meta/a~1b~0c'];
    const commitments = Object.fromEntries(pointers.map((pointer) => [pointer, BYTES]));
    const line = formatArchivedEntry({ index: 3, entry, salt: BYTES, commitments });
    expect(JSON.parse(line)).toEqual({
      index: 3,
      entry: {
        id: 'e',
        auth: { accessor_id: 'user-1', description: null },
        resource: { meta: { user: null, users: null, 'a/b~c': null, kept: 1 } },
      },
      salt: BASE64,
      commitments: Object.fromEntries(pointers.map((pointer) => [pointer, BASE64])),
      salts: {},
    });
    expect(line).not.toMatch(/ada|zoe/);
  });
});
