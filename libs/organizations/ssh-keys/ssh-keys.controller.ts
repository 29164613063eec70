import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  renderDocument,
  renderList,
  parseBody,
  resourceBody,
  text,
  type Document,
  type ListPage,
  type PageRequest,
  type Resource,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import type { SshKeyRead } from './ssh-key.js';
import { ChangeSshKey } from './ssh-keys.handler.js';
import { findSshKey, listSshKeys, type SshKeyRow } from './ssh-keys.view.js';

/** RSA keys of 16,384 bits, the longest in use, need 13,000 characters. */
const value = text(65_536);
export const createBody = resourceBody('ssh-keys', z.object({ name: z.string(), value }));
export const updateBody = resourceBody(
  'ssh-keys',
  z.object({ name: z.string().optional(), value: value.optional() }).default({}),
);

/** Renders an SSH key without its private key, which is in no response. */
const renderSshKey = ({ id, name }: SshKeyRow): Resource => ({
  id,
  type: 'ssh-keys',
  attributes: { name },
  links: { self: `/api/v2/ssh-keys/${id}` },
});

@Controller('api/v2')
export class SshKeysController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('organizations/:organization/ssh-keys')
  list(
    @Param('organization') name: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderList(request, (page) => this.listAndRecord(name, page, actor), renderSshKey);
  }

  @Post('organizations/:organization/ssh-keys')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { name, value: privateKey } = parseBody(createBody, body).data.attributes;
    const row = await this.bus.execute(new ChangeSshKey('CreateSshKey', { organization, name, privateKey, actor }));
    return renderDocument(renderSshKey(row));
  }

  @Get('ssh-keys/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await findSshKey(this.database, actor, 'read-ssh-keys', id);
    const data = { key: id, name: row.name };
    await this.reads.record<SshKeyRead>(actor, row.organization, { type: 'SshKeyShown', data });
    return renderDocument(renderSshKey(row));
  }

  @Patch('ssh-keys/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { name, value: privateKey } = parseBody(updateBody, body).data.attributes;
    const row = await this.bus.execute(new ChangeSshKey('UpdateSshKey', { id, name, privateKey, actor }));
    if (!row) throw notFound();
    return renderDocument(renderSshKey(row));
  }

  @Delete('ssh-keys/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeSshKey('DeleteSshKey', { id, actor }));
  }

  private async listAndRecord(name: string, page: PageRequest, actor: Actor): Promise<ListPage<SshKeyRow>> {
    const listPage = await listSshKeys(this.database, actor, name, page);
    const listed = { organization: listPage.organization, count: listPage.rows.length };
    await this.reads.record<SshKeyRead>(actor, listPage.organization, { type: 'SshKeysListed', data: listed });
    return listPage;
  }
}
