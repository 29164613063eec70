import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { NO_USES, toolVersions, type ToolVersionEvent, type ToolVersionSettings } from './tool-version.js';

const { given } = specify(toolVersions);

const settings: ToolVersionSettings = {
  official: false,
  enabled: true,
  beta: false,
  deprecated: false,
  deprecatedReason: null,
  archs: [],
};
const added = (id: string, version: string): ToolVersionEvent => ({
  type: 'ToolVersionAdded',
  data: { id, version, settings },
});
const rename = (id: string, version: string, uses = NO_USES) =>
  ({
    type: 'ChangeToolVersion',
    data: { program: 'terraform', id, changes: { version }, listed: null, isListed: false, uses },
  }) as const;

describe('the releases of a site', () => {
  it('have each version once, also after a rename and a deletion', () => {
    const add = {
      type: 'AddToolVersion',
      data: { program: 'terraform', id: 'b', version: '9.0.0', settings, isListed: false },
    } as const;
    given(added('a', '9.0.0')).when(add).refuses('unprocessable', 'Version 9.0.0 exists already');
    const renamed: ToolVersionEvent = {
      type: 'ToolVersionChanged',
      data: { id: 'a', version: '9.0.1', settings, changed: ['version'] },
    };
    given(added('a', '9.0.0')).when(rename('a', '9.0.1')).yields(renamed);
    given(added('a', '9.0.0'), renamed).when(add).yields(added('b', '9.0.0'));
    given(added('a', '9.0.0'), added('b', '9.0.1'))
      .when(rename('a', '9.0.1'))
      .refuses('unprocessable', 'Version 9.0.1 exists already');
    given(added('a', '9.0.0'), { type: 'ToolVersionDeleted', data: { id: 'a', version: '9.0.0' } })
      .when(add)
      .yields(added('b', '9.0.0'));
  });

  it('are at most 200', () => {
    const full = Array.from({ length: 200 }, (_, index) => added(`v${index}`, `9.0.${index}`));
    given(...full)
      .when({
        type: 'AddToolVersion',
        data: { program: 'terraform', id: 'b', version: '9.1.0', settings, isListed: false },
      })
      .refuses('unprocessable', 'a site has at most 200 of them');
  });

  it('are not changed by what they are already', () => {
    given(added('a', '9.0.0'))
      .when({
        type: 'ChangeToolVersion',
        data: {
          program: 'terraform',
          id: 'a',
          changes: { enabled: true, version: '9.0.0' },
          listed: null,
          isListed: false,
          uses: { workspaces: 3, runs: 1 },
        },
      })
      .yields();
  });

  it.each([
    [{ workspaces: 0, runs: 1 }, '1 run with it has not ended'],
    [{ workspaces: 2, runs: 3 }, '2 workspaces have it, and 3 runs with it have not ended'],
  ])('are not deleted and not renamed while something uses them: %j', (uses, reason) => {
    given(added('a', '9.0.0'))
      .when(rename('a', '9.0.1', uses))
      .refuses('unprocessable', reason);
    given(added('a', '9.0.0'))
      .when({ type: 'DeleteToolVersion', data: { program: 'terraform', id: 'a', listed: null, uses } })
      .refuses('unprocessable', `9.0.0 cannot be deleted: ${reason}`);
  });

  it('are not deleted if they are official', () => {
    const official = { ...settings, official: true };
    given({ type: 'ToolVersionAdded', data: { id: 'a', version: '9.0.0', settings: official } })
      .when({ type: 'DeleteToolVersion', data: { program: 'terraform', id: 'a', listed: null, uses: NO_USES } })
      .refuses('unprocessable', '9.0.0 is official, so it cannot be deleted');
  });

  it('have no ids that are names of members of every object', () => {
    for (const id of ['__proto__', 'constructor']) {
      given()
        .when(rename(id, '9.0.1'))
        .refuses('not-found', /not found/i);
      given()
        .when({ type: 'DeleteToolVersion', data: { program: 'terraform', id, listed: null, uses: NO_USES } })
        .refuses('not-found', /not found/i);
    }
  });

  it('keep the checksum or the address of their archive if a request names only the other', () => {
    const archive = { url: 'https://tools.test/a.zip', sha: 'a'.repeat(64), os: 'linux', arch: 'amd64' };
    const change = (id: string, requested: { readonly url?: string; readonly sha?: string }) =>
      ({
        type: 'ChangeToolVersion',
        data: {
          program: 'terraform',
          id,
          changes: { archive: requested },
          listed: null,
          isListed: false,
          uses: NO_USES,
        },
      }) as const;
    const url = 'https://tools.test/b.zip';
    given({
      type: 'ToolVersionAdded',
      data: { id: 'a', version: '9.0.0', settings: { ...settings, archs: [archive] } },
    })
      .when(change('a', { url }))
      .yields({
        type: 'ToolVersionChanged',
        data: {
          id: 'a',
          version: '9.0.0',
          settings: { ...settings, archs: [{ ...archive, url }] },
          changed: ['archs'],
        },
      });
    given(added('a', '9.0.0')).when(change('a', { url })).refuses('unprocessable', 'Sha is missing beside url');
    given(added('a', '9.0.0'))
      .when(change('a', { sha: archive.sha }))
      .refuses('unprocessable', 'Url is missing beside sha');
  });

  it('of OPA have an archive', () => {
    given()
      .when({ type: 'AddToolVersion', data: { program: 'opa', id: 'b', version: '9.0.0', settings, isListed: false } })
      .refuses('unprocessable', 'a version of OPA needs at least one archive');
  });
});
