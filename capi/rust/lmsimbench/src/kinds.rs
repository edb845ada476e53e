//! The library's enumerations.

use lmsimbench_sys as sys;

/// Declares an enumeration by the numbers of the C interface. What a newer
/// library may add reads as the first entry, which says that nothing is known.
macro_rules! enumeration {
    ($(#[$meta:meta])* $name:ident, $number:ty, $first:ident,
     { $($(#[$entry_meta:meta])* $entry:ident = $constant:ident,)+ }) => {
        $(#[$meta])*
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr($number)]
        pub enum $name {
            $($(#[$entry_meta])* $entry = sys::$constant as $number,)+
        }

        impl $name {
            /// The entry with this number in the C interface.
            pub fn of_number(number: $number) -> $name {
                $(if number == sys::$constant as $number {
                    return $name::$entry;
                })+
                $name::$first
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::$first
            }
        }
    };
}

enumeration! {
    /// What an operator does.
    OperatorKind, u8, NotStated, {
        /// Not known.
        NotStated = LMSB_OPERATOR_NOT_STATED,
        /// Looks up the rows of tokens.
        Embedding = LMSB_OPERATOR_EMBEDDING,
        /// Adds the rows of positions.
        PositionEmbedding = LMSB_OPERATOR_POSITION_EMBEDDING,
        /// Dropout behind the embedding.
        EmbeddingDropout = LMSB_OPERATOR_EMBEDDING_DROPOUT,
        /// Layer norm or RMS norm.
        Norm = LMSB_OPERATOR_NORM,
        /// Queries, keys and values in one matrix multiplication.
        QkvProjection = LMSB_OPERATOR_QKV_PROJECTION,
        /// Norm of queries and keys.
        QkNorm = LMSB_OPERATOR_QK_NORM,
        /// Rotary position embedding.
        Rotary = LMSB_OPERATOR_ROTARY,
        /// Fused core of attention.
        Attention = LMSB_OPERATOR_ATTENTION,
        /// Unfused: queries times keys.
        AttentionScores = LMSB_OPERATOR_ATTENTION_SCORES,
        /// Unfused: scale, mask, softmax.
        Softmax = LMSB_OPERATOR_SOFTMAX,
        /// Unfused: dropout of probabilities.
        AttentionDropout = LMSB_OPERATOR_ATTENTION_DROPOUT,
        /// Unfused: probabilities times values.
        AttentionValues = LMSB_OPERATOR_ATTENTION_VALUES,
        /// Projection behind attention.
        OutputProjection = LMSB_OPERATOR_OUTPUT_PROJECTION,
        /// Adds the residual.
        Residual = LMSB_OPERATOR_RESIDUAL,
        /// First multiplication of the MLP; gated: both inputs in one.
        MlpUp = LMSB_OPERATOR_MLP_UP,
        /// Activation of the MLP.
        MlpActivation = LMSB_OPERATOR_MLP_ACTIVATION,
        /// Last multiplication of the MLP.
        MlpDown = LMSB_OPERATOR_MLP_DOWN,
        /// Logits.
        OutputLayer = LMSB_OPERATOR_OUTPUT_LAYER,
        /// Loss.
        CrossEntropy = LMSB_OPERATOR_CROSS_ENTROPY,
        /// Norm of all gradients.
        GradientNorm = LMSB_OPERATOR_GRADIENT_NORM,
        /// Step of the optimizer.
        Optimizer = LMSB_OPERATOR_OPTIMIZER,
        /// Latent attention: hidden channels to compressed ones.
        LatentDown = LMSB_OPERATOR_LATENT_DOWN,
        /// Of the compressed channels.
        LatentNorm = LMSB_OPERATOR_LATENT_NORM,
        /// Compressed channels to heads.
        LatentUp = LMSB_OPERATOR_LATENT_UP,
        /// Joins what attention gave for the keys of one ring step.
        RingMerge = LMSB_OPERATOR_RING_MERGE,
        /// Hidden channels to a score for each expert.
        Router = LMSB_OPERATOR_ROUTER,
        /// Scores to the experts of each token.
        Routing = LMSB_OPERATOR_ROUTING,
        /// Tokens in the order of their experts, and of devices.
        Permute = LMSB_OPERATOR_PERMUTE,
        /// Weighted sum of what a token's experts give.
        Unpermute = LMSB_OPERATOR_UNPERMUTE,
        /// Of all experts of the device, `batch` of them.
        ExpertUp = LMSB_OPERATOR_EXPERT_UP,
        /// Of all experts of the device.
        ExpertActivation = LMSB_OPERATOR_EXPERT_ACTIVATION,
        /// Of all experts of the device, `batch` of them.
        ExpertDown = LMSB_OPERATOR_EXPERT_DOWN,
        /// Of the experts that take every token.
        SharedExpertUp = LMSB_OPERATOR_SHARED_EXPERT_UP,
        /// Of the experts that take every token.
        SharedExpertActivation = LMSB_OPERATOR_SHARED_EXPERT_ACTIVATION,
        /// Of the experts that take every token.
        SharedExpertDown = LMSB_OPERATOR_SHARED_EXPERT_DOWN,
        /// Two hidden widths to one.
        MultiTokenProjection = LMSB_OPERATOR_MULTI_TOKEN_PROJECTION,
        /// Between the memories of the device and of its host.
        HostCopy = LMSB_OPERATOR_HOST_COPY,
    }
}

enumeration! {
    /// The part of the iteration that an operator belongs to.
    Pass, u8, NotStated, {
        /// Not known.
        NotStated = LMSB_PASS_NOT_STATED,
        /// Forward.
        Forward = LMSB_PASS_FORWARD,
        /// Gradient of the input; without weights the whole backward pass.
        InputGradient = LMSB_PASS_INPUT_GRADIENT,
        /// Gradient of the weights.
        WeightGradient = LMSB_PASS_WEIGHT_GRADIENT,
        /// Behind the passes.
        Optimizer = LMSB_PASS_OPTIMIZER,
    }
}

enumeration! {
    /// What bounds an operator, and which figures describe its shape.
    Computation, u8, Elementwise, {
        /// Batch, m, n, k.
        MatrixMultiplication = LMSB_COMPUTATION_MATRIX_MULTIPLICATION,
        /// Batch, query and key tokens, heads, KV heads, head size, mask, window.
        Attention = LMSB_COMPUTATION_ATTENTION,
        /// Rows and width.
        Elementwise = LMSB_COMPUTATION_ELEMENTWISE,
        /// Rows and width; bounded by the host's memory and, of a copy, by the
        /// link to it.
        Host = LMSB_COMPUTATION_HOST,
    }
}

enumeration! {
    /// Format of what is computed on.
    Precision, u8, NotStated, {
        /// Not known.
        NotStated = LMSB_PRECISION_NOT_STATED,
        /// IEEE single.
        Fp32 = LMSB_PRECISION_FP32,
        /// Single, multiplied as TF32.
        Tf32 = LMSB_PRECISION_TF32,
        /// IEEE half.
        Fp16 = LMSB_PRECISION_FP16,
        /// bfloat16.
        Bf16 = LMSB_PRECISION_BF16,
        /// Automatic mixed precision, format not stated.
        Amp = LMSB_PRECISION_AMP,
        /// FP8, scaling not stated, or delayed.
        Fp8 = LMSB_PRECISION_FP8,
        /// FP8, scaled by the present tensor.
        Fp8CurrentScaling = LMSB_PRECISION_FP8_CURRENT_SCALING,
        /// FP8, a scale a row.
        Fp8Rowwise = LMSB_PRECISION_FP8_ROWWISE,
        /// FP8, a scale a tensor.
        Fp8Tensorwise = LMSB_PRECISION_FP8_TENSORWISE,
        /// FP8 with block scales.
        Mxfp8 = LMSB_PRECISION_MXFP8,
        /// The same, as another source names it.
        Fp8Mx = LMSB_PRECISION_FP8_MX,
        /// FP4 with block scales.
        Nvfp4 = LMSB_PRECISION_NVFP4,
    }
}

enumeration! {
    /// Kind of a collective communication.
    CollectiveKind, u8, NotStated, {
        /// Not known.
        NotStated = LMSB_COLLECTIVE_NOT_STATED,
        /// Every rank gets the sum.
        AllReduce = LMSB_COLLECTIVE_ALL_REDUCE,
        /// Every rank gets all parts.
        AllGather = LMSB_COLLECTIVE_ALL_GATHER,
        /// Every rank gets its part of the sum.
        ReduceScatter = LMSB_COLLECTIVE_REDUCE_SCATTER,
        /// Every rank sends a part to every other.
        AllToAll = LMSB_COLLECTIVE_ALL_TO_ALL,
        /// One rank sends to all.
        Broadcast = LMSB_COLLECTIVE_BROADCAST,
        /// One rank sends to another.
        SendReceive = LMSB_COLLECTIVE_SEND_RECEIVE,
    }
}

enumeration! {
    /// The ranks that communicate.
    Group, u8, NotStated, {
        /// Not known.
        NotStated = LMSB_GROUP_NOT_STATED,
        /// Tensor parallel.
        Tensor = LMSB_GROUP_TENSOR,
        /// Data parallel.
        Data = LMSB_GROUP_DATA,
        /// The part of data that is sharded over.
        Shard = LMSB_GROUP_SHARD,
        /// The ranks that hold the same shard.
        Replica = LMSB_GROUP_REPLICA,
        /// A rank and its neighbour in the pipeline.
        Pipeline = LMSB_GROUP_PIPELINE,
        /// First and last stage.
        Embedding = LMSB_GROUP_EMBEDDING,
        /// Tensor times pipeline.
        Model = LMSB_GROUP_MODEL,
        /// All ranks.
        World = LMSB_GROUP_WORLD,
        /// They hold a part each of the same sequences.
        Context = LMSB_GROUP_CONTEXT,
        /// Those of them that exchange heads.
        ContextInner = LMSB_GROUP_CONTEXT_INNER,
        /// Those of them that pass keys and values on.
        ContextOuter = LMSB_GROUP_CONTEXT_OUTER,
        /// They hold the experts of a layer.
        Expert = LMSB_GROUP_EXPERT,
        /// They share the same experts.
        ExpertTensor = LMSB_GROUP_EXPERT_TENSOR,
        /// Expert times expert tensor parallelism.
        ExpertRegion = LMSB_GROUP_EXPERT_REGION,
        /// They hold the same part of the same experts.
        ExpertData = LMSB_GROUP_EXPERT_DATA,
    }
}

enumeration! {
    /// What a cost rests on.
    Evidence, i32, NotAnswered, {
        /// Nothing: there is no cost.
        NotAnswered = LMSB_EVIDENCE_NOT_ANSWERED,
        /// This very shape was measured.
        Measured = LMSB_EVIDENCE_MEASURED,
        /// It lies between measured shapes.
        Interpolated = LMSB_EVIDENCE_INTERPOLATED,
        /// It lies outside the measured shapes.
        Extrapolated = LMSB_EVIDENCE_EXTRAPOLATED,
        /// A formula.
        Analytic = LMSB_EVIDENCE_ANALYTIC,
    }
}

enumeration! {
    /// Whether a configuration can run.
    Verdict, i32, NotAnswered, {
        /// Not said.
        NotAnswered = LMSB_VERDICT_NOT_ANSWERED,
        /// Its memory suffices.
        Fits = LMSB_VERDICT_FITS,
        /// It runs out of memory.
        DoesNotFit = LMSB_VERDICT_DOES_NOT_FIT,
        /// It breaks a rule.
        Illegal = LMSB_VERDICT_ILLEGAL,
    }
}
