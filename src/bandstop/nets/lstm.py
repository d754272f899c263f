"""LSTM recognisers (two rows of the paper's Table 1): the chunked skeleton read as a sequence of M poses."""

from __future__ import annotations

from torch import Tensor, nn

__all__ = ["LSTMRecogniser"]


class LSTMRecogniser(nn.Module):
    """Poses ``[B, V, M·3]`` → sequence ``[B, M, V·3]`` → LSTM layers → scores from the last hidden state.

    >>> import torch
    >>> LSTMRecogniser(21, 96, 45, hidden=8, layers=2)(torch.zeros(2, 21, 96)).shape
    torch.Size([2, 45])
    """

    def __init__(
        self,
        joints: int,
        signal: int,
        classes: int,
        *,
        hidden: int = 100,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            joints * 3, hidden, num_layers=layers, batch_first=True, dropout=dropout if layers > 1 else 0.0
        )
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(hidden, classes)

    def forward(self, signal: Tensor) -> Tensor:
        batch, joints, values = signal.shape
        poses = (
            signal.reshape(batch, joints, values // 3, 3).permute(0, 2, 1, 3).reshape(batch, -1, joints * 3)
        )
        states, _ = self.lstm(poses)
        scores: Tensor = self.classifier(self.dropout(states[:, -1]))
        return scores
