import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DELIVERIES } from './git-hosts.service.js';

const SECRET = 'secret-of-the-webhook';

describe('deliveries of GitHub', () => {
  const deliveries = DELIVERIES.github;
  const body = Buffer.from(JSON.stringify({ repository: { full_name: 'acme/network' } }));
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

  it('are signed with the secret', () => {
    expect(deliveries.isSigned({ 'x-hub-signature-256': signature }, body, SECRET)).toBe(true);
    for (const wrong of [undefined, '', 'sha256=', signature.slice(7), signature.replace(/.$/, 'g'), [signature]])
      expect(deliveries.isSigned({ 'x-hub-signature-256': wrong }, body, SECRET)).toBe(false);
    expect(deliveries.isSigned({ 'x-hub-signature-256': signature }, Buffer.from('{}'), SECRET)).toBe(false);
  });

  it('name their event, their repository and their id', () => {
    const headers = { 'x-github-event': 'push', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' };
    expect(deliveries.parse(headers, body)).toEqual({ event: 'push', identifier: 'acme/network' });
    expect(deliveries.getId(headers)).toBe('72d3162e-cc78-11e3-81ab-4c9367dc0958');
    expect(deliveries.parse(headers, Buffer.from('{'))).toBeNull();
    expect([deliveries.parse({}, body), deliveries.getId({})]).toEqual([null, null]);
  });
});

describe('deliveries of GitLab', () => {
  const deliveries = DELIVERIES.gitlab_hosted;
  const project = { path_with_namespace: 'acme/platform/network' };
  const body = Buffer.from(JSON.stringify({ object_kind: 'tag_push', project }));

  it('contain the secret', () => {
    expect(deliveries.isSigned({ 'x-gitlab-token': SECRET }, body, SECRET)).toBe(true);
    for (const wrong of [undefined, '', `${SECRET}x`, [SECRET]])
      expect(deliveries.isSigned({ 'x-gitlab-token': wrong }, body, SECRET)).toBe(false);
  });

  it('name their event, their project and their id', () => {
    expect(deliveries.parse({}, body)).toEqual({ event: 'tag_push', identifier: 'acme/platform/network' });
    expect(deliveries.parse({}, Buffer.from('[]'))).toBeNull();
    expect(deliveries.getId({ 'idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f' })).not.toBeNull();
    expect(deliveries.getId({ 'x-gitlab-event-uuid': 'a b' })).toBeNull();
  });
});
