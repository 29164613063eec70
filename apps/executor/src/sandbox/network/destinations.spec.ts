import { networkInterfaces } from 'node:os';
import { expect, it } from '@jest/globals';
import { Destinations } from './destinations.js';

const PUBLIC = '93.184.215.14';

const build = (permittedHosts: readonly string[] = [], addresses: readonly string[] = [PUBLIC]) => {
  const resolved: string[] = [];
  const resolve = async (host: string) => {
    resolved.push(host);
    return addresses;
  };
  return { destinations: new Destinations(new URL('https://cadastre.test'), permittedHosts, resolve), resolved };
};

const findAddresses = (host: string, permittedHosts: readonly string[] = []) =>
  build(permittedHosts).destinations.findAddresses({ host, port: 443 });

it.each(['example.com', PUBLIC, '10.1.2.3', '192.168.1.1', '100.64.0.1', '2606:2800:21f::1', 'fd12::1'])(
  'permits %s',
  async (host) => {
    expect(await findAddresses(host)).toEqual([host === 'example.com' ? PUBLIC : host]);
  },
);

const LOCAL = [
  '127.0.0.1',
  '127.1.2.3',
  '0.0.0.0',
  '::',
  '::1',
  '169.254.169.254',
  'fe80::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::1',
  '100.100.100.200',
  '::ffff:100.100.100.200',
  'fd00:ec2::254',
  '168.63.129.16',
  '224.0.0.1',
  '255.255.255.255',
  'ff02::1',
];

it.each(LOCAL)('refuses %s', async (address) => {
  await expect(findAddresses(address)).rejects.toThrow(`Cadastre refuses ${address}`);
});

it.each(LOCAL)('refuses a name that resolves to %s among others', async (address) => {
  const { destinations } = build([], [PUBLIC, address]);
  await expect(destinations.findAddresses({ host: 'rebind.example', port: 80 })).rejects.toThrow('rebind.example');
});

it.each(['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data'])(
  'refuses %s without resolving it',
  async (host) => {
    const { destinations, resolved } = build();
    await expect(destinations.findAddresses({ host, port: 80 })).rejects.toThrow(`Cadastre refuses ${host}`);
    expect(resolved).toEqual([]);
  },
);

it('refuses the addresses of the executor', async () => {
  const own = Object.values(networkInterfaces()).flatMap((entries = []) => entries.map(({ address }) => address));
  for (const address of own) await expect(findAddresses(address)).rejects.toThrow('Cadastre refuses');
});

it('permits what the operator lists', async () => {
  expect(await findAddresses('127.0.0.5', ['127.0.0.0/8'])).toEqual(['127.0.0.5']);
  expect(await findAddresses('metadata.google.internal', ['metadata.google.internal'])).toEqual([PUBLIC]);
  const { destinations } = build(['*.corp.example'], ['169.254.1.1']);
  expect(await destinations.findAddresses({ host: 'git.corp.example', port: 22 })).toEqual(['169.254.1.1']);
});

it('permits the Cadastre server on its port only, wherever it is', async () => {
  const { destinations } = build([], ['127.0.0.1']);
  expect(await destinations.findAddresses({ host: 'cadastre.test', port: 443 })).toEqual(['127.0.0.1']);
  await expect(destinations.findAddresses({ host: 'cadastre.test', port: 5432 })).rejects.toThrow('cadastre.test');
});

it('resolves two names at a time', async () => {
  const started: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const destinations = new Destinations(new URL('https://cadastre.test'), [], async (host) => {
    started.push(host);
    await promise;
    if (host === 'a.example') throw new Error('no such host');
    return [PUBLIC];
  });
  const names = ['a.example', 'b.example', 'c.example', 'd.example'];
  const results = Promise.allSettled(names.map((host) => destinations.findAddresses({ host, port: 443 })));
  expect(started).toEqual(['a.example', 'b.example']);
  resolve();
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(started).toEqual(names);
});
