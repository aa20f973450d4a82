import {
  FEATURES,
  type ExpandedFeatureDto,
  type FeatureExpansionsDto,
  type FeatureRow,
} from '../../declarations/catalog/feature.resource.js';
import { METERS, meterToDto } from '../../declarations/catalog/meter.resource.js';
import {
  expandedToDto,
  refersTo,
  type Expanded,
  type Expansions,
} from '../../records/expand-record.js';
import { expandGroup } from '../groups/groups-store.js';

export const featureExpansions: Expansions<FeatureRow, FeatureExpansionsDto> = {
  meter: refersTo('meter_id', METERS, meterToDto),
  group: expandGroup,
};
export type ExpandedFeature = Expanded<FeatureRow, FeatureExpansionsDto>;

export function expandedFeatureToDto(feature: ExpandedFeature): ExpandedFeatureDto {
  return expandedToDto(FEATURES, feature);
}
