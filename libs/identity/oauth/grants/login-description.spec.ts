import { expect, it } from '@jest/globals';
import { describeLogin } from './login-description.js';

const at = '2026-11-26T12:30:59.123Z';

it.each([
  ['Terraform/1.11.4', '203.0.113.7', 'terraform login, 2026-11-26 12:30 UTC, 203.0.113.7'],
  ['HashiCorp Terraform/1.11.4 (+https://www.terraform.io)', null, 'terraform login, 2026-11-26 12:30 UTC'],
  ['OpenTofu/1.9.0', '2001:db8::1', 'tofu login, 2026-11-26 12:30 UTC, 2001:db8::1'],
  ['a name of the attacker Terraform/1', '203.0.113.7', 'command-line login, 2026-11-26 12:30 UTC, 203.0.113.7'],
  [null, null, 'command-line login, 2026-11-26 12:30 UTC'],
])('names a login of %s from %s', (userAgent, address, description) => {
  expect(describeLogin({ userAgent, address, at })).toBe(description);
});
