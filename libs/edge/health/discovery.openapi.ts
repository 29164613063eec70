import { z } from 'zod';
import { describeController, describeJson } from '#json-api/description';
import { DiscoveryController } from './discovery.controller.js';

export const SERVER = {
  name: 'Server',
  description: 'Service discovery, health and metrics. These operations need no token.',
};

const services = z.strictObject({
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
