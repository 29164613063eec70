import { fileURLToPath } from 'node:url';
import { Controller, Get, Param, Req, Res, type StreamableFile } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#api/access';
import { PublishedFiles, sendPage } from '#api/pages';
import { ShellRenderer } from './shell.renderer.js';

/** The folder that apps/console/console.build.ts fills in a build. */
const FOLDER = fileURLToPath(new URL('../../../console/', import.meta.url));

/**
 * Serves the web console. Its page is the same at every address and for everybody, and contains nothing about anybody:
 * the scripts read the address, and request what they show from the API with the person's session.
 */
@Controller('app')
@Public()
export class ConsoleController {
  private readonly shell = new ShellRenderer(FOLDER);
  private readonly assets = new PublishedFiles({ folder: FOLDER, areImmutable: true });

  @Get(['', '*'])
  async showPage(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return sendPage(reply, 200, await this.shell.render());
  }

  @Get('assets/:file')
  async showAsset(
    @Param('file') file: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | string | undefined> {
    // An organization can have the name `assets`. Screens have no dot in their names, and files have one.
    if (!file.includes('.')) return this.showPage(reply);
    return this.assets.send(`assets/${file}`, request, reply);
  }
}
