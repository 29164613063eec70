import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '#api/access';
import { StaticFile } from './static-files.js';

const stylesheet = new StaticFile(new URL('./assets/style.css', import.meta.url), 'text/css; charset=utf-8');
const icon = new StaticFile(new URL('./assets/icon.svg', import.meta.url), 'image/svg+xml');

/** Serves the files that every page needs. */
@Controller('pages')
@Public()
export class PagesController {
  @Get('style.css')
  showStylesheet(@Res({ passthrough: true }) reply: FastifyReply): string {
    return stylesheet.send(reply);
  }

  @Get('icon.svg')
  showIcon(@Res({ passthrough: true }) reply: FastifyReply): string {
    return icon.send(reply);
  }
}
