import { describe, expect, it } from '@jest/globals';
import { isPublicAddress, PrivateHosts } from './private-hosts.js';

describe('a public address', () => {
  it.each(['93.184.216.34', '168.63.129.17', '2606:2800:220:1:248:1893:25c8:1946', '2001:200::1', '2a00:1450:4001::1'])(
    'is %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '169.254.0.23',
    '169.254.169.254',
    '169.254.170.2',
    '192.0.0.192',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '::127.0.0.1',
    '::7f00:1',
    '::168.63.129.16',
    '::93.184.216.34',
    '::ffff:168.63.129.16',
    '::ffff:0:127.0.0.1',
    '64:ff9b::93.184.216.34',
    '64:ff9b:1::127.0.0.1',
    '100::1',
    '100:0:0:1::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:db8::1',
    '2002:a83f:8110::',
    '2a00:1450:4001::5efe:127.0.0.1',
    '2a00:1450:4001::200:5efe:10.0.0.1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fec0::1',
    'fe80::a9fe:a9fe',
    'fe80::1%eth0',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    'no address',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('permitted private hosts', () => {
  const hosts = new PrivateHosts(['10.1.0.0/16', '192.168.0.7', 'fd00::/8', 'gitlab.internal', '*.corp.example']);

  it.each([
    ['public.example', '93.184.216.34'],
    ['any.example', '10.1.2.3'],
    ['any.example', '192.168.0.7'],
    ['any.example', 'fd12::1'],
    ['GitLab.Internal.', '172.16.0.1'],
    ['id.corp.example', '127.0.0.1'],
  ])('include %s at %s', (host, address) => {
    expect(hosts.permits(host, address)).toBe(true);
  });

  it.each([
    ['any.example', '10.2.0.1'],
    ['any.example', '192.168.0.8'],
    ['gitlab.internal.attacker.example', '127.0.0.1'],
    ['corp.example', '127.0.0.1'],
    ['evilcorp.example', '127.0.0.1'],
  ])('do not include %s at %s', (host, address) => {
    expect(hosts.permits(host, address)).toBe(false);
  });
});
