import {
  Body,
  Controller,
  Delete,
  Extension,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions } from '../../edge/versions.js';
import {
  changeLinesOf,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import { addLine } from './add-line.js';
import { changeLine, endLine } from './change-line.js';
import type {
  AddLineItemBody,
  ChangeLineItemBody,
  EndLineItemBody,
  LineItemListDto,
  SearchLineItemsBody,
} from './line-items-dto.js';
import { searchLines } from './search-lines.js';

const ownerOfLine = ({ subscription_id: id }: LineItemDto): string => id;

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class LinesController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * Line items of all subscriptions, also those that have ended; newest first.
   * @summary Search line items
   */
  @Post('lineitems/search')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async searchLineItems(
    @Request() request: HttpRequest,
    @Body() body: SearchLineItemsBody,
  ): Promise<LineItemListDto> {
    return accepted(await searchLines(this.dependencies, occasionOf(request), body));
  }

  /**
   * Another quantity, price or commitment ends the line item and begins a successor, which is
   * answered; what was charged in advance is settled at once. The name and the metadata change in
   * place.
   * @summary Change a line item
   */
  @Put('lineitems/{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'write', rate: 'heavy' })
  public async changeLineItem(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeLineItemBody,
  ): Promise<LineItemDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    return accepted(
      await changeLinesOf(changeLine, ownerOfLine, this.dependencies, occasionOf(request), change),
    );
  }

  /**
   * Ends a line item, now or at an instant; what is unused of its charges in advance is given back
   * where that is asked for.
   * @summary End a line item
   */
  @Delete('lineitems/{id}')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write' })
  public async endLineItem(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: EndLineItemBody,
  ): Promise<LineItemDto> {
    const ending = { target: { id, isExpected: expectedVersions(request) }, body };
    return accepted(
      await changeLinesOf(endLine, ownerOfLine, this.dependencies, occasionOf(request), ending),
    );
  }

  /**
   * A line beside those of the plan. What it costs in advance for the rest of the running period is
   * on the next invoice.
   * @summary Add a line item
   */
  @Post('{id}/lineitems')
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'subscription', access: 'write', notFound: true })
  public async addLineItem(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: AddLineItemBody,
  ): Promise<LineItemDto> {
    const added = { target: { id, isExpected: expectedVersions(request) }, body };
    return accepted(
      await changeLinesOf(addLine, ownerOfLine, this.dependencies, occasionOf(request), added),
    );
  }
}
