import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeModule, packModule, publishModuleVersion } from '../support/registry-modules.js';
import { makeOrganization } from '../support/seeds.js';
import { createCliUser, flat, hasIacTools, type CliUser } from './iac.js';
import { openSite, type CliSite } from './site.js';

// The real clients install modules with the token of a user. The modules use no providers, so the clients need no network.

const LONG = 120_000;

let site: CliSite;
/** Sources of modules need a host with a dot, unlike those of providers. */
let host: string;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  site = await openSite();
  host = site.host.replace('localhost', '127.0.0.1');
}, LONG);

afterAll(async () => {
  await site?.product.remove();
});

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

for (const program of hasIacTools) {
  describe(`with ${program}`, () => {
    const organization = `with-${program}`;
    let person: CliUser;

    const newPerson = (token: string): Promise<CliUser> =>
      createCliUser({ program, host, token, caFile: join(site.product.dataFolder, 'tls/ca.pem') });

    const publish = async (version: string): Promise<void> => {
      const archive = await packModule({
        './main.tf': `output "version" {\n  value = "${version}"\n}\n`,
        'modules/inner/main.tf': `output "inner" {\n  value = "inner ${version}"\n}\n`,
      });
      await publishModuleVersion(site.api, organization, 'Network', version, archive);
    };

    const configuration = (constraint: string): string => `
      module "network" {
        source  = "${host}/${organization}/Network/aws"
        version = "${constraint}"
      }
      module "inner" {
        source  = "${host}/${organization}/Network/aws//modules/inner"
        version = "${constraint}"
      }
      output "all" {
        value = [module.network.version, module.inner.inner]
      }
    `;

    beforeAll(async () => {
      await makeOrganization(site.api, organization);
      await makeModule(site.api, organization, 'Network');
      for (const version of ['1.9.0', '1.10.0', '2.0.0-beta.1']) await publish(version);
      person = await newPerson(site.product.adminToken);
    }, LONG);

    afterAll(() => person?.leave());

    it(
      'the newest version that a constraint allows is installed with its submodules',
      async () => {
        const folder = await person.folder(configuration('~> 1.0'));
        expect(flat(await person.run(folder, 'init', '-input=false'))).toContain('1.10.0');
        await person.run(folder, 'apply', '-auto-approve', '-input=false');
        expect(JSON.parse(await person.run(folder, 'output', '-json', 'all'))).toEqual(['1.10.0', 'inner 1.10.0']);
        const installed = join(folder, '.terraform/modules/network/main.tf');
        expect(await readFile(installed, 'utf8')).toContain('"1.10.0"');
      },
      LONG,
    );

    it(
      'a pre-release is installed only if its version is given exactly',
      async () => {
        const exact = await person.folder(configuration('2.0.0-beta.1'));
        await person.run(exact, 'init', '-input=false');
        const { code } = await person.attempt(await person.folder(configuration('>= 2.0.0')), 'init', '-input=false');
        expect(code).toBe(1);
      },
      LONG,
    );

    it(
      'nothing is installed without a valid token, and the program says so',
      async () => {
        const stranger = await newPerson('nobody.atlasv1.wrong');
        const { code, output } = await stranger.attempt(
          await stranger.folder(configuration('1.9.0')),
          'init',
          '-input=false',
        );
        expect({ code, output: flat(output) }).toEqual({ code: 1, output: expect.stringMatching(/401|nauthorized/) });
        await stranger.leave();
      },
      LONG,
    );
  });
}
