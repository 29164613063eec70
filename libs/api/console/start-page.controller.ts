import { Controller, Get, HttpCode, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '#api/access';
import { redirectToPage } from '#api/pages';

/** Redirects people who open the address of the server to the console. */
@Controller()
@Public()
export class StartPageController {
  @Get()
  @HttpCode(303)
  redirectToConsole(@Res({ passthrough: true }) reply: FastifyReply): void {
    redirectToPage(reply, '/app');
  }
}
