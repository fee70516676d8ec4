;;; hive-undo-test.el --- Undo beside text from elsewhere  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'ert)
(require 'hive-shared-text)

(defmacro hive-undo-test-with (text &rest body)
  "Run BODY in a buffer with TEXT, which cannot be undone."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (buffer-enable-undo)
     (let ((buffer-undo-list t)) (insert ,text))
     (setq buffer-undo-list nil)
     ,@body))

(defun hive-undo-test-all ()
  "Undo everything."
  (let ((left buffer-undo-list))
    (while left (setq left (primitive-undo 1 left)))))

(ert-deftest hive-undo/an-insertion-above-is-followed ()
  (hive-undo-test-with "above\n"
    (goto-char (point-max))
    (insert "mine")
    (undo-boundary)
    (delete-region 7 9)
    (hive-shared-put 7 "from elsewhere\n")
    (should (equal (buffer-string) "above\nfrom elsewhere\nne"))
    (primitive-undo 1 buffer-undo-list)
    (should (equal (buffer-string) "above\nfrom elsewhere\nmine"))
    (hive-undo-test-all)
    (should (equal (buffer-string) "above\nfrom elsewhere\n"))))

(ert-deftest hive-undo/typing-goes-on-in-one-record ()
  (hive-undo-test-with ""
    (insert "ab")
    (hive-shared-put 1 "XYZ\n")
    (goto-char (point-max))
    (insert "c")
    (should (equal (car buffer-undo-list) '(5 . 8)))))

(ert-deftest hive-undo/what-is-deleted-is-forgotten ()
  (hive-undo-test-with "top\n"
    (goto-char (point-max))
    (insert "draft ")
    (undo-boundary)
    (insert "block")
    (undo-boundary)
    (delete-region 13 15)
    (undo-boundary)
    (goto-char (point-max))
    (insert " more")
    (hive-shared-cut 11 14)
    (should (equal (buffer-string) "top\ndraft  more"))
    (hive-undo-test-all)
    (should (equal (buffer-string) "top\n"))))

(ert-deftest hive-undo/an-undo-in-progress-goes-on ()
  (hive-undo-test-with ""
    (dolist (word '("one " "two " "three "))
      (insert word)
      (undo-boundary))
    (let ((last-command nil) (this-command 'undo)) (undo))
    (should (equal (buffer-string) "one two "))
    (hive-shared-put 1 "NEWS ")
    (undo-boundary)
    (let ((last-command 'undo) (this-command 'undo)) (undo))
    (should (equal (buffer-string) "NEWS one "))
    ;; Redo brings it back.
    (undo-boundary)
    (let ((last-command 'other) (this-command 'undo)) (undo))
    (should (equal (buffer-string) "NEWS one two "))))

(ert-deftest hive-undo/what-cannot-be-followed-ends-the-list ()
  (hive-undo-test-with "abc"
    (goto-char (point-max))
    (insert "old")
    (undo-boundary)
    (push '(apply 0 1 4 ignore) buffer-undo-list)
    (undo-boundary)
    (insert "new")
    (hive-shared-put 1 "X")
    (hive-undo-test-all)
    (should (equal (buffer-string) "Xabcold"))))

(ert-deftest hive-undo/without-undo-nothing-happens ()
  (with-temp-buffer
    (setq buffer-undo-list t)
    (insert "abc")
    (hive-shared-put 2 "X")
    (hive-shared-cut 1 2)
    (should (eq buffer-undo-list t))))

;; The human edits below a line, others above it, in any order.  Undoing all
;; of the human's edits leaves exactly those of the others.
(ert-deftest hive-undo/any-order-of-edits ()
  (dotimes (seed 300)
    (random (format "seed %d" seed))
    (hive-undo-test-with "|"
      (let ((above "") (case (list seed)))
        (dotimes (_ 25)
          (let ((line (- (point-max) (- (point-max) (1+ (length above))))))
            (pcase (random 6)
              (0 (let* ((pos (random (1+ (length above))))
                        (text (make-string (1+ (random 4)) (+ ?A (random 26)))))
                   (push (list 'put pos text) case)
                   (setq above (concat (substring above 0 pos) text (substring above pos)))
                   (hive-shared-put (1+ pos) text)))
              (1 (when (> (length above) 0)
                   (let* ((beg (random (length above)))
                          (end (+ beg 1 (random (- (length above) beg)))))
                     (push (list 'cut beg end) case)
                     (setq above (concat (substring above 0 beg) (substring above end)))
                     (hive-shared-cut (1+ beg) (1+ end)))))
              ((or 2 3) (goto-char (+ line 1 (random (- (point-max) line))))
               (insert (make-string (1+ (random 4)) (+ ?a (random 26)))))
              (4 (let* ((beg (+ line 1 (random (- (point-max) line))))
                        (end (+ beg (random (1+ (- (point-max) beg))))))
                   (delete-region beg end)))
              (5 (undo-boundary)))))
        (hive-undo-test-all)
        (ert-info ((format "%S" (nreverse case)))
          (should (equal (buffer-string) (concat above "|"))))))))

;; A block of somebody else is inserted into the human's own text, recorded,
;; and then removed: the human's undo works as if it had never been there.
(ert-deftest hive-undo/a-removed-block-leaves-no-trace ()
  (dotimes (seed 300)
    (random (format "block %d" seed))
    (hive-undo-test-with ""
      (progn
        (dotimes (_ 6)
          (insert (make-string (1+ (random 3)) (+ ?a (random 26))))
          (when (zerop (random 3)) (undo-boundary)))
        (let* ((pos (1+ (random (point-max))))
               (block (progn (goto-char pos) (insert "BLOCK") (copy-marker pos t)))
               (end (copy-marker (+ pos 5))))
          (dotimes (_ 6)
            (goto-char (if (zerop (random 2)) (point-max) (point-min)))
            (insert (make-string (1+ (random 3)) (+ ?a (random 26))))
            (when (zerop (random 3)) (undo-boundary)))
          (let ((without (concat (buffer-substring 1 block) (buffer-substring end (point-max)))))
            (hive-shared-cut (marker-position block) (marker-position end))
            (should (equal (buffer-string) without))))
        (hive-undo-test-all)
        (should (equal (buffer-string) ""))))))
