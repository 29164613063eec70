import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil, type ProcessResult } from '../support/product.js';
import { makeDist, type Dist, type Packed } from '../support/release-folders.js';
import { makeSigner, type Signer } from '../support/releases.js';
import { makeOrganization } from '../support/seeds.js';
import { flat, hasIacTools, type CliUser } from './iac.js';
import { openSite, type CliSite } from './site.js';

// The command publishes a release folder, and the real clients install it and verify its checksums and signature. They
// do not run the provider, so they need no network.

const LONG = 120_000;
/**
 * Time limit for a server that cannot be reached: the command retries, and resolvers are slow to report an unknown
 * name.
 */
const OUT_OF_REACH = 300_000;

const OS = { win32: 'windows' }[process.platform as string] ?? process.platform;
const ARCH = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
const HERE = `${OS}_${ARCH}`;
const ELSEWHERE = HERE === 'darwin_arm64' ? 'linux_amd64' : 'darwin_arm64';

let site: CliSite;
let signer: Signer;
let keys: Dist;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  site = await openSite();
  signer = await makeSigner();
  keys = await makeDist();
  await keys.write('private.asc', signer.privateKey);
  await keys.write('token', site.product.adminToken);
}, LONG);

afterAll(async () => {
  await keys?.remove();
  await site?.product.remove();
});

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

for (const program of hasIacTools) {
  describe(`with ${program}`, () => {
    const organization = `with-${program}`;
    let person: CliUser;
    const dists: Dist[] = [];

    const distOf = async (packed: Packed, systems: readonly string[], more?: Buffer): Promise<Dist> => {
      const dist = await makeDist();
      dists.push(dist);
      for (const system of systems) await dist.pack(packed, system, more);
      return dist;
    };

    /** Runs `cadastre provider publish`. */
    const publish = (name: string, dist: Dist, ...options: readonly string[]): Promise<ProcessResult> => {
      const defaults = {
        '--server': site.product.url,
        '--ca': join(site.product.dataFolder, 'tls/ca.pem'),
        '--token-file': join(keys.path, 'token'),
        '--org': organization,
        '--name': name,
        '--key': join(keys.path, 'private.asc'),
      };
      return site.product.run('provider', 'publish', ...Object.entries(defaults).flat(), ...options, dist.path);
    };

    /** Publishes and expects success. Resolves to the printed Terraform block. */
    const published = async (name: string, dist: Dist): Promise<string> => {
      const { code, stdout, stderr } = await publish(name, dist);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };

    const lockOf = (folder: string): Promise<string> => readFile(join(folder, '.terraform.lock.hcl'), 'utf8');

    beforeAll(async () => {
      await makeOrganization(site.api, organization);
      person = await site.person(program);
    }, LONG);

    afterAll(async () => {
      for (const dist of dists) await dist.remove();
      await person?.leave();
    });

    it(
      'a published version is installed with the printed block, signed and with its checksums',
      async () => {
        const dist = await distOf({ name: 'demo', version: '1.0.0' }, [HERE, ELSEWHERE]);
        const block = await published('demo', dist);
        expect(block).toContain(`source  = "${site.host}/${organization}/demo"`);

        const folder = await person.folder(block);
        const output = flat(await person.run(folder, 'init', '-input=false'));
        expect(output).toContain(`Installed ${site.host}/${organization}/demo v1.0.0`);
        expect(output).toMatch(new RegExp(`signed.*key ID ${signer.keyId}`, 'i'));
        const lock = await lockOf(folder);
        expect(lock).toMatch(/version\s+= "1\.0\.0"/);
        expect(lock.match(/"zh:[0-9a-f]{64}"/g)).toHaveLength(2);
        const at = `.terraform/providers/${site.host.replace(':', '_')}/${organization}/demo/1.0.0/${HERE}`;
        const paths = [at, at.replace('_', ':')].map((path) => join(folder, path, 'terraform-provider-demo_v1.0.0'));
        const installed = await Promise.any(paths.map((path) => readFile(path, 'utf8')));
        expect(installed).toContain(`echo demo 1.0.0 ${HERE}`);

        expect((await publish('demo', dist)).stderr).toContain('Already published');
      },
      LONG,
    );

    it(
      'another machine installs the same version with the lock file, and nothing without a valid token',
      async () => {
        const block = await published('shared', await distOf({ name: 'shared', version: '2.1.0' }, [HERE]));
        const first = await person.folder(block);
        await person.run(first, 'init', '-input=false');
        const otherUser = await site.person(program);
        const second = await otherUser.folder(block);
        await otherUser.write(second, '.terraform.lock.hcl', await lockOf(first));
        await otherUser.run(second, 'init', '-input=false', '-lockfile=readonly');
        await otherUser.leave();

        for (const token of ['', 'nobody.atlasv1.wrong']) {
          const stranger = await site.person(program, token);
          const { code } = await stranger.attempt(await stranger.folder(block), 'init', '-input=false');
          expect(code).toBe(1);
          await stranger.leave();
        }
      },
      LONG,
    );

    it(
      'a newer version is installed with -upgrade, and all platforms can be locked and mirrored',
      async () => {
        const block = await published('many', await distOf({ name: 'many', version: '1.0.0' }, [HERE, ELSEWHERE]));
        const folder = await person.folder(block.replace('"1.0.0"', '"~> 1.0"'));
        await person.run(folder, 'init', '-input=false');
        await published('many', await distOf({ name: 'many', version: '1.1.0' }, [HERE, ELSEWHERE]));
        await person.run(folder, 'init', '-input=false');
        expect(await lockOf(folder)).toMatch(/version\s+= "1\.0\.0"/);
        await person.run(folder, 'init', '-input=false', '-upgrade');
        expect(await lockOf(folder)).toMatch(/version\s+= "1\.1\.0"/);

        await person.run(folder, 'providers', 'lock', `-platform=${HERE}`, `-platform=${ELSEWHERE}`);
        expect((await lockOf(folder)).match(/"h1:/g)).toHaveLength(2);
        await person.run(folder, 'providers', 'mirror', `-platform=${ELSEWHERE}`, 'mirror');
        const mirrored = await readdir(join(folder, 'mirror'), { recursive: true });
        expect(mirrored.filter((file) => file.endsWith('.zip'))).toEqual([
          expect.stringMatching(`terraform-provider-many_1.1.0_${ELSEWHERE}.zip$`),
        ]);
      },
      LONG,
    );

    it(
      'a platform without a zip in the release gets an error that names it',
      async () => {
        const block = await published('elsewhere', await distOf({ name: 'elsewhere', version: '1.0.0' }, [ELSEWHERE]));
        const { code, output } = await person.attempt(await person.folder(block), 'init', '-input=false');
        expect({ code, output: flat(output) }).toEqual({
          code: 1,
          output: expect.stringContaining(`does not have a package available for your current platform, ${HERE}`),
        });
      },
      LONG,
    );

    it(
      'a damaged zip is refused before the upload, and a zip that is damaged on the server is not installed',
      async () => {
        const packed = { name: 'spoiled', version: '1.0.0' };
        const dist = await distOf(packed, [HERE], randomBytes(77_777));
        await dist.sum(packed, signer);
        const zip = `terraform-provider-spoiled_1.0.0_${HERE}.zip`;
        const good = await readFile(join(dist.path, zip));
        await dist.pack(packed, HERE, randomBytes(77_777));
        const { code, stdout, stderr } = await publish('spoiled', dist);
        expect({ code, stdout, stderr }).toEqual({
          code: 1,
          stdout: '',
          stderr: expect.stringContaining(`${zip} has checksum`),
        });
        expect((await site.api.get(`/api/v2/organizations/${organization}/registry-providers`)).text).not.toContain(
          'spoiled',
        );

        await dist.write(zip, good);
        const block = await published('spoiled', dist);
        const blobs = join(site.product.dataFolder, 'blobs');
        const files = (await readdir(blobs, { recursive: true })).map((file) => join(blobs, file));
        // The content identifies the file: the zip of another client has the same size.
        const alike = await Promise.all(
          files.map(async (file) => (await stat(file)).isFile() && good.equals(await readFile(file))),
        );
        const stored = files.find((_, n) => alike[n]) ?? '';
        await writeFile(stored, Buffer.concat([good.subarray(0, -1), Buffer.from('!')]));
        const { code: refused, output } = await person.attempt(await person.folder(block), 'init', '-input=false');
        expect({ code: refused, output: flat(output) }).toEqual({ code: 1, output: expect.stringMatching(/checksum/) });
      },
      LONG,
    );

    it(
      'a release that another key has signed is not published',
      async () => {
        const packed = { name: 'foreign', version: '1.0.0' };
        const dist = await distOf(packed, [HERE]);
        const otherSigner = await makeSigner();
        await dist.sum(packed, otherSigner);
        const { code, stderr } = await publish('foreign', dist);
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: `The signature was made by the key ${otherSigner.keyId}, not by ${signer.keyId}\n`,
        });
      },
      LONG,
    );

    it(
      'an upload is completed after the server was killed and started again',
      async () => {
        const packed = { name: 'large', version: '1.0.0' };
        const dist = await distOf(packed, [HERE, ELSEWHERE], randomBytes(40_000_000));
        const publishing = publish('large', dist);
        const platforms = `/api/v2/organizations/${organization}/registry-providers/private/${organization}/large/versions/1.0.0/platforms`;
        await waitUntil(
          async () => (await site.api.get(platforms)).body.data?.length > 0,
          'the upload of a zip has begun',
        );
        await site.product.kill();
        await site.product.start();
        const { code, stdout, stderr } = await publishing;
        expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
        await person.run(await person.folder(stdout), 'init', '-input=false');
      },
      LONG,
    );

    it(
      'wrong usage and an unreachable server have exit codes of their own',
      async () => {
        const dist = await distOf({ name: 'demo', version: '3.0.0' }, [HERE]);
        expect(await publish('Demo', dist)).toMatchObject({ code: 2, stderr: expect.stringMatching(/lowercase/) });
        expect(await publish('demo', dist, '--public-key', 'key.asc')).toMatchObject({ code: 2 });
        const { code, stdout } = await publish('demo', dist, '--json', '--server', 'https://localhost.invalid');
        expect({ code, told: JSON.parse(stdout) }).toEqual({
          code: 3,
          told: { error: 'unreachable', problems: [expect.stringMatching(/^localhost\.invalid: /)] },
        });
      },
      OUT_OF_REACH,
    );
  });
}
