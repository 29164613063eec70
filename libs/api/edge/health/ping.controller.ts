import { Controller, Get, Header, HttpCode } from '@nestjs/common';
import { ConfigureRoute, Public } from '#api/access';

/** A release of Terraform Enterprise. From 202302 on, the CLI shows the structured output of remote plans. */
export const TFE_VERSION = 'v202602-1';

@Controller('api/v2')
@Public()
export class PingController {
  /**
   * Responds to the first request of most clients. The `cloud` block requires API version 2.5 or later.
   */
  @Get('ping')
  @HttpCode(204)
  // go-tfe sends this request once and ignores its status. Without the headers the CLI stops.
  @ConfigureRoute({ announcesRateLimit: true, isEssential: true })
  @Header('TFP-API-Version', '2.6')
  @Header('TFP-AppName', 'Cadastre')
  // The CLI cuts off the first character and reads the number before the hyphen. Any other text ends a remote plan.
  @Header('X-TFE-Version', TFE_VERSION)
  // terraform-provider-tfe offers some resources only from a release of Terraform Enterprise, for example
  // `tfe_org_max_token_ttl_policy` from 2.0.1.
  @Header('X-TFE-Current-Version', '2.0.1')
  ping(): void {
    // The response consists of headers.
  }
}
