import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '#api/access';
import { notFound } from '#platform/kernel';
import { renderAvatar } from './avatar.renderer.js';

/** An avatar never changes, and other origins may show it. */
const HEADERS = {
  'content-type': 'image/svg+xml',
  'cache-control': 'public, max-age=604800, immutable',
  'cross-origin-resource-policy': 'cross-origin',
};

@Controller('api/v2')
export class AvatarsController {
  /**
   * Public, because browsers send no token for images. It reveals nothing: every id has an avatar (avatar.renderer.ts).
   */
  @Get('users/:id/avatar')
  @Public()
  show(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    const svg = renderAvatar(id);
    if (svg === null) throw notFound();
    void reply.headers(HEADERS);
    return svg;
  }
}
