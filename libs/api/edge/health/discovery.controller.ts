import { Controller, Get, Header } from '@nestjs/common';
import { ConfigureRoute, Public } from '#api/access';
import { LOGIN_SERVICE } from './login-service.js';

// A buffer, because Fastify adds a charset to strings, and the CLI accepts exactly `application/json`.
const SERVICES = Buffer.from(
  JSON.stringify({
    'login.v1': LOGIN_SERVICE,
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
