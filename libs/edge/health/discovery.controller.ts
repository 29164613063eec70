import { Controller, Get, Header } from '@nestjs/common';
import { ConfigureRoute, Public } from '#access';

// Without `login.v1`, because there is no OAuth server: `terraform login` then asks for a token. A buffer, because
// Fastify adds a charset to strings, and the CLI accepts exactly `application/json` (clients.md §7).
const SERVICES = Buffer.from(
  JSON.stringify({
    'modules.v1': '/api/registry/v1/modules/',
    'motd.v1': '/api/terraform/motd',
    'providers.v1': '/api/registry/v1/providers/',
    'state.v2': '/api/v2/',
    'tfe.v2': '/api/v2/',
    'tfe.v2.1': '/api/v2/',
    'tfe.v2.2': '/api/v2/',
  }),
);

/** Remote service discovery. @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery */
@Controller()
@Public()
export class DiscoveryController {
  @Get('.well-known/terraform.json')
  @ConfigureRoute({ isEssential: true })
  @Header('content-type', 'application/json')
  services(): Buffer {
    return SERVICES;
  }
}
