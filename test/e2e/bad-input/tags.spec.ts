import { describe, it } from '@jest/globals';
import { describeRefusals, workspace, WORKSPACES, type BadRequestCase } from './bad-requests.js';

const { expectRefusal } = describeRefusals();

const tag = (key: unknown, value: unknown = 'v') => ({ type: 'tag-bindings', attributes: { key, value } });
const flat = (name: unknown) => ({ type: 'tags', attributes: { name } });

describe('a wrong request for tags', () => {
  it.each<BadRequestCase>([
    {
      title: 'a tag id that is a property of every JavaScript object',
      send: 'DELETE /api/v2/organizations/acme/tags',
      body: { data: [{ type: 'tags', id: 'constructor' }] },
      status: 404,
      problems: [[null, 'Tag constructor not found']],
    },
    {
      title: 'a key with a slash',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('fine'), tag('a/b')] },
      status: 422,
      problems: [['/data/1/attributes/key', 'Key is invalid']],
    },
    {
      title: 'a key of 129 characters',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k'.repeat(129))] },
      status: 422,
      problems: [['/data/0/attributes/key', 'Key is invalid']],
    },
    {
      title: 'a value of 257 characters',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k', 'v'.repeat(257))] },
      status: 422,
      problems: [['/data/0/attributes/value']],
    },
    {
      title: 'a value with a NUL',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: [tag('k', '\u0000')] },
      status: 422,
      problems: [['/data/0/attributes/value']],
    },
    {
      title: 'eleven bindings',
      send: 'PATCH /api/v2/workspaces/{workspace}/tag-bindings',
      body: { data: Array.from({ length: 11 }, (_, n) => tag(`k${n}`)) },
      status: 422,
      problems: [['/data', 'cannot exceed 10 bindings per resource']],
    },
    {
      title: 'eleven bindings with the workspace',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x' }, { 'tag-bindings': { data: Array.from({ length: 11 }, (_, n) => tag(`k${n}`)) } }),
      status: 422,
      problems: [['/data/relationships/tag-bindings/data', 'cannot exceed 10 bindings per resource']],
    },
    {
      title: 'a flat tag with a space',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [flat('fine'), flat('not fine')] },
      status: 422,
      problems: [['/data/1/attributes/name', /^Name may only contain/]],
    },
    {
      title: 'a flat tag without a name',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'tags', attributes: {} }] },
      status: 422,
      problems: [['/data/0', 'Tag must have an id or a name']],
    },
    {
      title: 'a flat tag by an unknown id',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'tags', id: 'tag-nowhere' }] },
      status: 404,
    },
    {
      title: 'resources that are no tags',
      send: 'POST /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: [{ type: 'workspaces', id: '{workspace}' }] },
      status: 422,
      problems: [['/data/0/type']],
    },
    {
      title: 'an object instead of a list',
      send: 'DELETE /api/v2/workspaces/{workspace}/relationships/tags',
      body: { data: flat('x') },
      status: 422,
      problems: [['/data']],
    },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});
