import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { resource } from '../../support/seeds.js';
import { inAcme, organization, site } from '../targets.js';

/** Public routes: service discovery, health, metrics and descriptions. */
const open: readonly MatrixRow[] = (
  [
    ['/.well-known/terraform.json', 200],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/ping', 204],
    ['/api/openapi.json', 200],
    ['/api/asyncapi.json', 200],
    ['/api/docs', 200],
    ['/api/docs/scalar.js', 200],
    ['/', 303],
    ['/app', 200],
    ['/app/*', 200],
    ['/pages/style.css', 200],
    ['/pages/icon.svg', 200],
  ] as const
).map(([path, status]) => ({ route: `GET ${path}`, about: site, demands: 'anybody', status }));

const auditEntry: MatrixTarget = {
  scope: inAcme,
  params: (_, { acme, resources }) => ({ organization: acme.name, id: resources.auditEntry }),
};

export const edge: readonly MatrixRow[] = [
  ...open,
  {
    route: 'GET /app/assets/:file',
    about: { ...site, params: () => ({ file: 'workspaces' }) },
    demands: 'anybody',
    status: 200,
  },
  {
    route: 'GET /schemas/:name',
    about: { ...site, params: () => ({ name: 'WorkspaceCreated.json' }) },
    demands: 'anybody',
    status: 200,
  },
  { route: 'GET /admin/site-status', about: site, demands: ['manage-site'], status: 200 },
  { route: 'GET /admin/audit-trail', about: site, demands: ['read-site-audit-trail'], status: 200 },
  {
    route: 'GET /admin/audit-trail/:id',
    about: { ...site, params: (_, { resources }) => ({ id: resources.siteAuditEntry }) },
    demands: ['read-site-audit-trail'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/events',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  {
    route: 'GET /organization/audit-trail',
    about: { ...site, scope: inAcme },
    demands: ['read-audit-trail-of-token'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/audit-trail-activity',
    about: organization,
    demands: ['read-audit-trail'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/audit-trail',
    about: organization,
    demands: ['read-audit-trail'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/audit-trail/:id',
    about: auditEntry,
    demands: ['read-audit-trail'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/audit-trail-settings',
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
  },
  {
    route: 'PATCH /organizations/:organization/audit-trail-settings',
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
    trail: ['organization update'],
    fresh: true,
    body: resource('audit-trail-settings', { 'retention-days': 30 }),
  },
  {
    route: 'GET /organizations/:organization/audit-configuration',
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
  },
  {
    route: 'PATCH /organizations/:organization/audit-configuration',
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
    trail: ['organization update'],
    fresh: true,
    body: resource('audit-configurations', { 'audit-trails': { enabled: false } }),
  },
  {
    route: 'POST /organizations/:organization/audit-configuration/test',
    about: organization,
    demands: ['manage-audit-trail'],
    status: 200,
    trail: ['audit_configuration test'],
    fresh: true,
  },
];
