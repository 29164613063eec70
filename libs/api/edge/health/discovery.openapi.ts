import { z } from 'zod';
import { describeController, describeJson } from '#api/json-api/description';
import { DiscoveryController } from './discovery.controller.js';
import { LOGIN_SERVICE } from './login-service.js';

export const SERVER = {
  name: 'Server',
  description: 'Service discovery, health and metrics. These operations need no token.',
};

const login = z.strictObject({
  client: z.literal(LOGIN_SERVICE.client),
  grant_types: z
    .array(z.literal('authz_code'))
    .length(1)
    .meta({ examples: [['authz_code']] }),
  authz: z.literal(LOGIN_SERVICE.authz),
  token: z.literal(LOGIN_SERVICE.token),
  ports: z
    .array(z.int())
    .length(2)
    .meta({
      description: 'The first and the last port on which the client may listen.',
      examples: [[...LOGIN_SERVICE.ports]],
    }),
});

const services = z.strictObject({
  'login.v1': login,
  'modules.v1': z.literal('/api/registry/v1/modules/'),
  'motd.v1': z.literal('/api/terraform/motd'),
  'providers.v1': z.literal('/api/registry/v1/providers/'),
  'state.v2': z.literal('/api/v2/'),
  'tfe.v2': z.literal('/api/v2/'),
  'tfe.v2.1': z.literal('/api/v2/'),
  'tfe.v2.2': z.literal('/api/v2/'),
});

export const discoveryOperations = describeController(DiscoveryController, SERVER, {
  services: {
    operationId: 'discoverServices',
    summary: 'Show the addresses of services',
    description: 'Terraform and OpenTofu read them before their first request.',
    answer: describeJson(services, { mediaType: 'application/json', description: 'The addresses.' }),
  },
});
