import { fileURLToPath } from 'node:url';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#api/access';
import { PublishedFiles } from '#api/pages';

/** The folder that publish-files.build.ts fills in a build. */
const FOLDER = fileURLToPath(new URL('../../../api-docs/', import.meta.url));

/** Serves the descriptions of the API and of the events, and a page to read them. */
@Controller()
@Public()
export class ApiDocsController {
  private readonly files = new PublishedFiles({ folder: FOLDER });

  @Get('api/openapi.json')
  showOpenApi(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.files.send('openapi.json', request, reply);
  }

  @Get('api/asyncapi.json')
  showAsyncApi(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.files.send('asyncapi.json', request, reply);
  }

  @Get('api/docs')
  showPage(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.files.send('index.html', request, reply);
  }

  @Get('api/docs/scalar.js')
  showScript(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.files.send('scalar.js', request, reply);
  }

  @Get('schemas/:name')
  showSchema(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.files.send(`schemas/${name}`, request, reply);
  }
}
