;;; hive-undo.el --- Undo that survives text from elsewhere  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A shared buffer changes above what the human is writing.  Such changes
;; are no edits of the human's, so they are not recorded; but the records
;; of the human's own edits hold positions, and those must follow.
;;
;; `buffer-undo-list' goes from the newest edit to the oldest, and each
;; record speaks of the buffer as it was right after that edit.  So the
;; place of the foreign text is carried back through the records one by
;; one, as it would have stood then.  Records are changed in place: an undo
;; that is under way holds a tail of the same list.

;;; Code:

(require 'cl-lib)
(require 'pcase)

(defconst hive-undo--nothing '(apply cdr nil)
  "A record that does nothing; Emacs itself writes such.")

(defun hive-undo--cut (cell)
  "Forget the record in CELL and all older ones: they cannot be followed."
  (let ((list buffer-undo-list))
    (if (eq list cell)
        (setq buffer-undo-list nil)
      (while (not (eq (cdr list) cell)) (setq list (cdr list)))
      (setcdr list nil)))
  (hive-undo--drop-pending cell))

(defun hive-undo--drop-pending (list)
  "End an undo that is under way in a tail of LIST."
  (when (consp pending-undo-list)
    (while (and list (not (eq list pending-undo-list))) (setq list (cdr list)))
    (when list (setq pending-undo-list t))))

(defun hive-undo--walk (function)
  "Call FUNCTION with each cons of the undo list, newest first.
It returns `done' to stop, or `lost' when its record and the older
ones cannot be followed."
  (unless (eq buffer-undo-list t)
    ;; The list of an undo in a region is a copy that nobody can find.
    (when (and undo-in-region (consp pending-undo-list))
      (setq pending-undo-list t))
    (let ((cell buffer-undo-list))
      (while (consp cell)
        (let ((next (cdr cell)))
          (pcase (funcall function cell)
            ('done (setq next nil))
            ('lost (hive-undo--cut cell)
                   (setq next nil)))
          (setq cell next))))))

(defun hive-undo--sign (like position)
  "Return POSITION with the sign of LIKE."
  (if (< like 0) (- position) position))

(defun hive-undo-inserted (at length)
  "Let the undo list follow LENGTH characters inserted at AT, unrecorded.
What stood at AT now stands behind them."
  (hive-undo--walk
   (lambda (cell)
     (pcase (car cell)
       ((and (pred integerp) point)
        (when (>= point at) (setcar cell (+ point length)))
        nil)
       (`(,(and (pred integerp) beg) . ,(and (pred integerp) end))
        ;; An insertion; before it, AT was further to the front.
        (cond ((>= beg at) (setcar cell (cons (+ beg length) (+ end length))))
              ((<= end at) (setq at (- at (- end beg))))
              (t (setcar cell (cons beg (+ end length)))
                 (setq at beg)))
        nil)
       (`(,(and (pred stringp) text) . ,(and (pred integerp) pos))
        (if (< (abs pos) at)
            (setq at (+ at (length text)))
          (setcar cell (cons text (hive-undo--sign pos (+ (abs pos) length)))))
        nil)
       (`(nil ,property ,value ,beg . ,end)
        (setcar cell `(nil ,property ,value
                           ,(if (>= beg at) (+ beg length) beg)
                           . ,(if (> end at) (+ end length) end)))
        nil)
       ((pred (equal hive-undo--nothing)) nil)
       (`(apply . ,_) 'lost)))))

(defun hive-undo-deleted (beg end)
  "Let the undo list follow the text from BEG to END, deleted unrecorded.
What the records knew of that text is forgotten."
  (let ((orphans nil))
    (cl-flet ((follow (pos)
                (cond ((<= pos beg) pos)
                      ((>= pos end) (- pos (- end beg)))
                      (t beg))))
      (hive-undo--walk
       (lambda (cell)
         (pcase (car cell)
           ((guard (= beg end)) 'done)
           ((and (pred integerp) point) (setcar cell (follow point)) nil)
           (`(,(and (pred integerp) from) . ,(and (pred integerp) to))
            (let ((new-from (follow from)) (new-to (follow to)))
              (setcar cell (if (= new-from new-to) hive-undo--nothing
                             (cons new-from new-to))))
            ;; Before that insertion, less of the text was there.
            (cl-flet ((earlier (pos)
                        (cond ((<= pos from) pos)
                              ((>= pos to) (- pos (- to from)))
                              (t from))))
              (setq beg (earlier beg) end (earlier end)
                    orphans nil))
            nil)
           (`(,(and (pred stringp) text) . ,(and (pred integerp) pos))
            (let ((place (abs pos)) (length (length text)))
              (setq orphans (< beg place end))
              (cond (orphans (setcar cell hive-undo--nothing)
                             (setq end (+ end length)))
                    ((<= place beg) (setq beg (+ beg length) end (+ end length)))
                    (t (setcar cell (cons text (hive-undo--sign pos (follow place)))))))
            nil)
           (`(,(pred markerp) . ,_)
            ;; It belongs to the deletion before it in the list.
            (when orphans (setcar cell hive-undo--nothing))
            nil)
           (`(nil ,property ,value ,from . ,to)
            (let ((new-from (follow from)) (new-to (follow to)))
              (setcar cell (if (= new-from new-to) hive-undo--nothing
                             `(nil ,property ,value ,new-from . ,new-to))))
            nil)
           ((pred (equal hive-undo--nothing)) nil)
           (`(apply . ,_) 'lost)))))))

(provide 'hive-undo)
;;; hive-undo.el ends here
