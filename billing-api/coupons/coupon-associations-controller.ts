import { Extension, Get, Path, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import type {
  CouponAssociationDto,
  CouponAssociationListDto,
} from '../declarations/coupons/coupon-association.resource.js';
import {
  listCouponAssociations,
  readCouponAssociation,
  type CouponAssociationsQuery,
} from './coupon-association-operations.js';

/** Named first in .config/tsoa.json, or else GET /coupons/{id} would take /coupons/associations. */
@Route('v1/coupons/associations')
@Tags('Coupons')
export class CouponAssociationsController extends ApiController<ReadDependencies> {
  /**
   * What coupons are attached to, newest first unless sorted otherwise.
   * @summary List coupon associations
   */
  @Get()
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async listCouponAssociations(
    @Queries() query: CouponAssociationsQuery,
  ): Promise<CouponAssociationListDto> {
    return pageToDto(await this.run(listCouponAssociations, query), (association) => association);
  }

  /** @summary Read a coupon association */
  @Get('{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public readCouponAssociation(@Path() id: string): Promise<CouponAssociationDto> {
    return this.run(readCouponAssociation, id);
  }
}
