import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '#access';
import { notFound } from '#kernel';
import { renderAvatar } from './avatar.renderer.js';

/** An avatar never changes, and pages of other origins show it. */
const HEADERS = {
  'content-type': 'image/svg+xml',
  'cache-control': 'public, max-age=604800, immutable',
  'cross-origin-resource-policy': 'cross-origin',
};

@Controller('api/v2')
export class AvatarsController {
  /** Public, because browsers send no token for pictures. It reveals nothing: any id has an avatar (avatar.ts). */
  @Get('users/:id/avatar')
  @Public()
  show(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    const svg = renderAvatar(id);
    if (svg === null) throw notFound();
    void reply.headers(HEADERS);
    return svg;
  }
}
