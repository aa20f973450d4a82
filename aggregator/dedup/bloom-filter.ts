/** Bytes of an id: the first 128 bits of a SHA-256. */
export const ID_BYTES = 16;

/** A new layer is a fifth of the filter, so at most a sixth of the memory is still empty. */
const GROWTH = 0.2;
/** The configured rate holds up to this number of layers: until the ids have doubled. */
const LAYERS_WITHIN_RATE = 5;
const LAYER_IDS_MIN = 1 << 16;
/** 2 GiB: below the largest size of a typed array, and enough for 10^9 ids. */
const LAYER_BITS_MAX = 2 ** 34;

/** Above this many ids a filter takes at most `bytesPerIdMax` for each. */
export const SMALL_FILTER_IDS = LAYER_IDS_MIN * LAYERS_WITHIN_RATE;

/** Bits of one layer for each of its ids: log2(1/r)/ln 2 for a layer's part r of the rate. */
function bitsPerIdOf(falsePositiveRate: number): number {
  return Math.log2(LAYERS_WITHIN_RATE / falsePositiveRate) / Math.LN2;
}

/** Memory for each id of a filter of more than `SMALL_FILTER_IDS` ids, at every size. */
export function bytesPerIdMax(falsePositiveRate: number): number {
  return (bitsPerIdOf(falsePositiveRate) * (1 + GROWTH)) / 8;
}

type Layer = { readonly bits: Uint32Array; readonly bitCount: number; readonly idsMax: number };

export type BloomFilterOptions = {
  /** Largest share of unknown ids that the filter may contain, until the ids have doubled. */
  readonly falsePositiveRate: number;
  /** Sizes the first layer, with room to grow: the number of stored ids. */
  readonly expectedIds?: number;
};

/**
 * A set of event ids that may answer "perhaps" but never forgets: it decides only which ids need an
 * exact look-up. It grows by layers, without knowing the number of ids beforehand. Ids are hashes,
 * so probes are taken from their own bits. 48 bits choose the first probe, and 48 others the
 * distance to the next one. The distance itself grows (enhanced double hashing). So layers beyond
 * 2^32 bits are filled evenly and no two ids share all probes by sharing a few bits.
 */
export class BloomFilter {
  readonly #layers: Layer[] = [];
  readonly #bitsPerId: number;
  readonly #probes: number;
  #idsInLast = 0;
  #size = 0;
  #capacity = 0;

  constructor({ falsePositiveRate, expectedIds = 0 }: BloomFilterOptions) {
    this.#bitsPerId = bitsPerIdOf(falsePositiveRate);
    this.#probes = Math.round(this.#bitsPerId * Math.LN2);
    this.#addLayer(expectedIds * (1 + GROWTH));
  }

  /** Number of ids added; an id added twice counts twice. */
  get size(): number {
    return this.#size;
  }

  /** Memory of the bits. */
  get bytes(): number {
    return this.#layers.reduce((sum, { bits }) => sum + bits.byteLength, 0);
  }

  /** Whether it holds so many ids that its rate is above the configured one. */
  get isOvergrown(): boolean {
    return this.#layers.length > LAYERS_WITHIN_RATE;
  }

  /** Adds ids of 16 bytes each, one after the other. */
  add(ids: Buffer): void {
    for (let at = 0; at < ids.length; at += ID_BYTES) {
      const { bits, bitCount } = this.#lastLayer();
      let bit = firstProbe(ids, at, bitCount);
      let step = firstProbe(ids, at + 8, bitCount);
      for (let probe = 1; ; probe += 1) {
        // There are fewer than 2^29 words, so an integer operation may cut off the fraction.
        const word = (bit / 32) | 0;
        bits[word] = (bits[word] ?? 0) | (1 << (bit - word * 32));
        if (probe === this.#probes) break;
        bit += step;
        if (bit >= bitCount) bit -= bitCount;
        step += probe;
        if (step >= bitCount) step -= bitCount;
      }
      this.#idsInLast += 1;
      this.#size += 1;
    }
  }

  /** Whether the id at this position of the bytes may have been added. False is certain. */
  mayContain(ids: Buffer, at: number): boolean {
    return this.#layers.some((layer) => this.#isIn(layer, ids, at));
  }

  #isIn({ bits, bitCount }: Layer, ids: Buffer, at: number): boolean {
    let bit = firstProbe(ids, at, bitCount);
    let step = firstProbe(ids, at + 8, bitCount);
    for (let probe = 1; ; probe += 1) {
      const word = (bit / 32) | 0;
      if (((bits[word] ?? 0) & (1 << (bit - word * 32))) === 0) return false;
      if (probe === this.#probes) return true;
      bit += step;
      if (bit >= bitCount) bit -= bitCount;
      step += probe;
      if (step >= bitCount) step -= bitCount;
    }
  }

  #lastLayer(): Layer {
    const last = this.#layers.at(-1);
    if (last !== undefined && this.#idsInLast < last.idsMax) return last;
    return this.#addLayer(this.#capacity * GROWTH);
  }

  #addLayer(ids: number): Layer {
    const fitting = Math.floor(LAYER_BITS_MAX / this.#bitsPerId);
    const idsMax = Math.min(fitting, Math.max(LAYER_IDS_MIN, Math.ceil(ids)));
    const words = Math.ceil((idsMax * this.#bitsPerId) / 32);
    const layer = { bits: new Uint32Array(words), bitCount: words * 32, idsMax };
    this.#layers.push(layer);
    this.#capacity += idsMax;
    this.#idsInLast = 0;
    return layer;
  }
}

/** A bit of the layer, from 48 bits of the id: even to one part in 2^14 for the largest layer. */
function firstProbe(ids: Buffer, at: number, bitCount: number): number {
  return Math.floor((ids.readUIntBE(at, 6) / 2 ** 48) * bitCount);
}
