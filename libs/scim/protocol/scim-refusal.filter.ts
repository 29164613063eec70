import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { getHttpStatus, setRefusalHeaders } from '#json-api';
import { Refusal } from '#kernel';
import { ScimRefusal } from './scim-refusal.js';
import { ERROR_SCHEMA, SCIM_JSON } from './scim-schemas.js';

/** Sends refusals as SCIM error documents (RFC 7644 §3.12). SCIM has no status 422. */
@Catch(Refusal)
export class ScimRefusalFilter implements ExceptionFilter {
  catch(refused: Refusal, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const isInvalid = refused.kind === 'unprocessable';
    const status = isInvalid ? 400 : getHttpStatus(refused);
    const scimType = refused instanceof ScimRefusal ? refused.scimType : isInvalid ? 'invalidValue' : undefined;
    setRefusalHeaders(reply, refused);
    void reply
      .status(status)
      .type(SCIM_JSON)
      .send({
        schemas: [ERROR_SCHEMA],
        status: String(status),
        ...(scimType === undefined ? {} : { scimType }),
        detail: refused.message,
      });
  }
}
