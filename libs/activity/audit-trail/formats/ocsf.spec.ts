import { describe, expect, it } from '@jest/globals';
import { createEntryOf } from '../spec.js';
import { renderOcsf } from './ocsf.js';

const render = (...change: Parameters<typeof createEntryOf>): any => renderOcsf(createEntryOf(...change), '1.2.3');

describe('an entry as an event of OCSF', () => {
  it('has the caller, the request, the resource and the metadata', () => {
    expect(render('workspace', 'create', { name: 'net', tags: null, from: [{ a: null, b: 1 }] })).toEqual({
      category_uid: 6,
      class_uid: 6003,
      activity_id: 1,
      type_uid: 600_301,
      severity_id: 1,
      status_id: 1,
      time: Date.parse('2026-11-01T12:00:00.001Z'),
      message: 'ada: create workspace ws-1',
      metadata: {
        version: '1.8.0',
        product: { name: 'Cadastre', vendor_name: 'Cadastre', version: '1.2.3' },
        uid: '0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f',
        event_code: 'workspace.create',
        correlation_uid: 'request-1',
        tenant_uid: 'org-1',
        log_name: 'audit-trail',
      },
      actor: { user: { uid: 'user-1', name: 'ada', type_id: 1 } },
      src_endpoint: { ip: '192.0.2.7' },
      http_request: { uid: 'request-1', user_agent: 'Terraform/1.13.0' },
      api: { operation: 'workspace.create', service: { name: 'Cadastre' } },
      resources: [{ uid: 'ws-1', type: 'workspace', name: 'net' }],
      unmapped: { auth_type: 'Client', meta: { name: 'net', from: [{ b: 1 }] } },
    });
  });

  it('names the service as the source if the address is hidden or missing', () => {
    const { src_endpoint, http_request } = render('workspace', 'lock', null, { request: { id: null } });
    expect([src_endpoint, http_request]).toEqual([{ svc_name: 'Cadastre' }, undefined]);
  });

  it.each([
    ['workspace', 'lock', null, 6003, 99],
    ['workspace', 'destroy', null, 6003, 4],
    ['user', 'index', { count: 1 }, 6003, 2],
    ['policy_check', 'passed', null, 6003, 99],
    ['constructor', 'toString', null, 6003, 99],
    ['workspace', 'add_team', { team: 'core', permissions: 'write' }, 3006, 1],
    ['project', 'remove_team', { team: 'core' }, 3006, 2],
    ['team', 'add_member', { user: 'ada' }, 3006, 3],
    ['team', 'update', null, 3006, 99],
    ['scim_group', 'update_members', { added: ['user-2'], removed: [] }, 3006, 3],
    ['scim_group', 'update_members', { added: [], removed: ['user-2'] }, 3006, 4],
    ['scim_group', 'update_members', { added: ['user-2'], removed: ['user-3'] }, 3006, 99],
    ['user', 'suspend', null, 3001, 5],
    ['user', 'forget', null, 3001, 6],
    ['user', 'grant_admin', null, 3005, 1],
    ['organization_user', 'destroy', { user: 'ada', user_id: 'user-2' }, 3005, 2],
    ['sign_in_methods', 'update', { user_id: 'user-2', change: 'password_set' }, 3001, 3],
    ['sign_in_methods', 'update', { user_id: 'user-2', change: 'totp_disabled' }, 3001, 11],
    ['sign_in_methods', 'create_link', { user_id: 'user-2' }, 3001, 99],
    ['session', 'create', { user_id: 'user-2' }, 3002, 1],
    ['session', 'destroy', { user_id: 'user-2' }, 3002, 2],
    ['authentication_token', 'create', { user_id: 'user-2' }, 3004, 1],
    ['saml_configuration', 'disable', null, 3004, 9],
    ['oidc_key', 'rotate', null, 3004, 99],
  ])('has a class and an activity for %s %s with %j', (type, action, meta, classUid, activity) => {
    const event = render(type, action, meta);
    expect([event.class_uid, event.activity_id, event.type_uid]).toEqual([
      classUid,
      activity,
      classUid * 100 + activity,
    ]);
    expect(event.activity_name).toBe(activity === 99 ? action : undefined);
  });

  it('names the team, the resource and the privilege of a grant', () => {
    const { group, resource, privileges } = render('workspace', 'add_team', { team: 'core', permissions: 'write' });
    expect({ group, resource, privileges }).toEqual({
      group: { name: 'core', type: 'team' },
      resource: { uid: 'ws-1', type: 'workspace' },
      privileges: ['write'],
    });
  });

  it('says that a refused sign-in failed and why, also if the person is unknown', () => {
    const { user, status_id, status_detail } = render('sign_in', 'refuse', { reason: 'unknown_name', user_id: null });
    expect({ user, status_id, status_detail }).toEqual({
      user: { name: 'unknown' },
      status_id: 2,
      status_detail: 'unknown_name',
    });
  });
});
