import {
  Body,
  Delete,
  Extension,
  Get,
  Post,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import {
  integrationToDto,
  type IntegrationDto,
  type IntegrationListDto,
  type LinkBody,
  type Linked,
  type SubscriptionSignalBody,
  type SubscriptionSignalDto,
  type UnlinkBody,
} from '../../declarations/customers/integration.resource.js';
import { ApiController } from '../../edge/api-controller.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { linkEntity, listLinks, unlinkEntity } from './link-operations.js';
import { takeSubscriptionSignal, type TakenSignal } from './take-subscription-signal.js';

/** Which links are listed. */
export interface MappingsQuery extends ListQuery {
  entity_type?: Linked;
  /** @maxLength 255 */
  entity_id?: string;
  /** @maxLength 255 */
  provider_type?: string;
}

function messageOf({ row, isRepeated, isActivated }: TakenSignal): string {
  if (isRepeated) return 'the signal came before; it has no second effect';
  if (isActivated) return 'the subscription was incomplete, and is active now';
  return `the subscription is ${row.subscription_status}; the signal changes nothing`;
}

@Route('v1/integrations')
@Tags('Integrations')
export class IntegrationsController extends ApiController<GatewayNeeds> {
  /**
   * A record has one entity of each provider, and an entity belongs to one record.
   * @summary Link a record to an entity of a provider
   */
  @Post('link')
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'integration', access: 'write', notFound: true })
  public async linkEntity(@Body() body: LinkBody): Promise<IntegrationDto> {
    return integrationToDto(await this.run(linkEntity, body));
  }

  /** @summary Unlink a record from an entity of a provider */
  @Delete('link')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'integration', access: 'write', notFound: true })
  public async unlinkEntity(@Body() body: UnlinkBody): Promise<MessageDto> {
    const row = await this.run(unlinkEntity, body);
    const entity = `${row.provider_type} ${row.provider_entity_id}`;
    return { message: `${row.entity_type} ${row.entity_id} is not linked to ${entity} any more` };
  }

  /** @summary List links */
  @Get('mappings')
  @Extension('x-operation', { entity: 'integration', access: 'read' })
  public async listMappings(@Queries() query: MappingsQuery): Promise<IntegrationListDto> {
    const page = await this.run(listLinks, {
      request: listRequestFrom(query),
      entityType: query.entity_type,
      entityId: query.entity_id,
      providerType: query.provider_type,
    });
    return pageToDto(page, integrationToDto);
  }

  /**
   * A provider tells that a subscription is active. A signal counts once: an incomplete one
   * becomes active; one about another subscription is acknowledged and changes nothing.
   * @summary Take a signal about a subscription
   */
  @Post('signals/subscription')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'integration', access: 'write', notFound: true })
  public async takeSubscriptionSignal(
    @Body() body: SubscriptionSignalBody,
  ): Promise<SubscriptionSignalDto> {
    const taken = await this.run(takeSubscriptionSignal, body);
    return {
      message: messageOf(taken),
      subscription_id: taken.row.id,
      subscription_status: taken.row.subscription_status,
    };
  }
}
